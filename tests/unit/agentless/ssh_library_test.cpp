#include "agentless/ssh/library.hpp"

#include <gmock/gmock.h>

#include "agentless/versions.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Library, SaysWhatAnOldOneCosts) {
    EXPECT_THAT(std::string(limits_of(LibraryAge::before_1_11)), HasSubstr("no RSA keys"));
    EXPECT_THAT(std::string(limits_of(LibraryAge::is_1_11_0)), HasSubstr("chacha20-poly1305"));
    EXPECT_THAT(std::string(limits_of(LibraryAge::is_1_11_0)), Not(HasSubstr("no RSA keys")));
    EXPECT_EQ(limits_of(LibraryAge::newer), "");
}

TEST(Library, NamesTheVersionThatHasTheAlgorithmWhereThereIsOne) {
    EXPECT_EQ(no_common_algorithm(LibraryAge::before_1_11, "1.10.0"),
              "this is libssh2 1.10.0; hosts with only -etm MACs or only an RSA key need 1.11");
    EXPECT_EQ(no_common_algorithm(LibraryAge::is_1_11_0, "1.11.0"),
              "this is libssh2 1.11.0; hosts with only chacha20-poly1305 need 1.11.1");
    EXPECT_THAT(no_common_algorithm(LibraryAge::newer, "1.11.1"), HasSubstr("allow others there"));
}

TEST(Library, IsAsOldAsItsVersionSays) {
    const std::string version = library_version();
    const bool before = version.starts_with("1.10") || version.starts_with("1.9");
    EXPECT_EQ(library_age() == LibraryAge::before_1_11, before) << version;
    EXPECT_EQ(library_age() == LibraryAge::is_1_11_0, version == "1.11.0") << version;
    EXPECT_EQ(rsa_works(), !before) << version;
}

TEST(Library, IsNamedWithItsOriginAndItsLimits) {
    const std::string versions = ssh_library_versions();
    EXPECT_THAT(versions, HasSubstr("libssh2 " + library_version() + " ("));
    EXPECT_THAT(versions, HasSubstr(std::string(limits_of(library_age()))));
#ifdef CLEANSLATE_LIBSSH2_PACKAGE
    EXPECT_THAT(versions, HasSubstr("(built from Debian's " CLEANSLATE_LIBSSH2_PACKAGE ")"));
#else
    EXPECT_THAT(versions, HasSubstr("(the system's)"));
#endif
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
