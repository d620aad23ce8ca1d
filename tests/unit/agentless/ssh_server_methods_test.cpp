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

// A part of what a server wants was given where it asks for something else now; one that only asks for less
// has had enough of a method.
TEST(ServerMethods, TellWhetherSomethingNewIsAskedFor) {
    const auto before = read_methods("publickey,password,keyboard-interactive");
    EXPECT_FALSE(read_methods("publickey").has_new(before));
    EXPECT_FALSE(read_methods("").has_new(before));
    EXPECT_FALSE(before.has_new(before));
    EXPECT_TRUE(read_methods("publickey").has_new(read_methods("password")));
    EXPECT_TRUE(read_methods("hostbased").has_new(before));
}

TEST(ServerMethods, MayBeNoneOrNonsense) {
    EXPECT_EQ(read_methods("").text(), "nothing");
    EXPECT_EQ(read_methods(",,").text(), "nothing");
    EXPECT_EQ(read_methods("a\x1b,b").text(), "a\\x1B, b");
    EXPECT_LT(read_methods(std::string(100'000, 'x')).text().size(), 300u);
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
