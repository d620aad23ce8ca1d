#include "agentless/ssh/server_methods.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless::ssh {
namespace {

TEST(ServerMethods, AreReadFromTheServersList) {
    const auto methods = read_methods("publickey,password");
    EXPECT_TRUE(methods.takes(AuthMethod::publickey));
    EXPECT_TRUE(methods.takes(AuthMethod::password));
    EXPECT_TRUE(methods.takes_a_password());
    EXPECT_FALSE(methods.takes(AuthMethod::keyboard_interactive));
    EXPECT_EQ(methods.text(), "publickey, password");
    EXPECT_FALSE(read_methods("publickey,gssapi-with-mic").takes_a_password());
    EXPECT_TRUE(read_methods("keyboard-interactive").takes_a_password());
}

TEST(ServerMethods, MayBeNoneOrNonsense) {
    EXPECT_EQ(read_methods("").text(), "nothing");
    EXPECT_EQ(read_methods(",,").text(), "nothing");
    EXPECT_EQ(read_methods("a\x1b,b").text(), "a\\x1B, b");
    EXPECT_LT(read_methods(std::string(100'000, 'x')).text().size(), 300u);
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
