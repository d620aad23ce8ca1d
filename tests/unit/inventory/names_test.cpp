#include "inventory/names.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cleanslate::inventory {
namespace {

TEST(HostName, IsAWordOrAnIpv6Address) {
    for (const auto* name :
         {"gpu01", "gpu01.example.com", "10.0.0.1", "gpu_01", "a-b", "::1", "fe80::1%eth0", "2001:db8::7"}) {
        EXPECT_TRUE(check_host_name(name)) << name;
    }
}

TEST(HostName, IsNothingThatAProgramCouldTakeForSomethingElse) {
    for (const std::string name : {"",        "-oProxyCommand=x",
                                   ".hidden", "a b",
                                   "a\nb",    "a\tb",
                                   "a;b",     "$(a)",
                                   "a`b`",    "a/b",
                                   "a*",      "a,b",
                                   "!a",      "&a",
                                   "@a",      "a@b",
                                   "a:22",    "[::1]",
                                   "::1%",    "::1%a b",
                                   "::g",     "{{ x }}",
                                   "\xC3\xA4"}) {
        const auto checked = check_host_name(name);
        ASSERT_FALSE(checked) << name;
        EXPECT_EQ(checked.error().kind, "inventory");
    }
    EXPECT_FALSE(check_host_name(std::string(256, 'a')));
    EXPECT_FALSE(check_host_name(std::string("::1\0", 4)));
    EXPECT_FALSE(check_host_name(std::string("a\0b", 3)));
}

TEST(HostName, AnErrorSaysWhereThePartsBelong) {
    EXPECT_EQ(check_host_name("root@gpu01").error().remedy, "the user has its own variable: ansible_user");
    EXPECT_EQ(check_host_name("gpu01:22").error().remedy, "the port has its own variable: ansible_port");
    EXPECT_EQ(check_address("{{ inventory_hostname }}").error().remedy,
              "templates are not evaluated here: write the value out");
}

TEST(GroupName, IsNoAddress) {
    EXPECT_TRUE(check_group_name("rack-1"));
    EXPECT_FALSE(check_group_name("::1"));
    EXPECT_FALSE(check_group_name("a b"));
}

TEST(User, HasNoBlanksAndNoDashInFront) {
    for (const auto* user : {"root", "svc.gpu", "DOMAIN\\user", "user@realm", "a-b"})
        EXPECT_TRUE(check_user(user)) << user;
    for (const auto* user : {"", "-l", "a b", "a\n", "a\x7f", "{{user}}"})
        EXPECT_FALSE(check_user(user)) << user;
}

TEST(Brackets, ComeOffAnIpv6AddressOnly) {
    EXPECT_EQ(without_brackets("[::1]"), "::1");
    EXPECT_EQ(without_brackets("[1-2]"), "[1-2]");
    EXPECT_EQ(without_brackets("[1:2]"), "[1:2]");
    EXPECT_EQ(without_brackets("[]"), "[]");
    EXPECT_EQ(without_brackets(""), "");
}

TEST(Path, ExpandsTheHomeFolder) {
    ASSERT_EQ(setenv("HOME", "/home/op", 1), 0);
    EXPECT_EQ(expand_path("~/.ssh/id").value(), "/home/op/.ssh/id");
    EXPECT_EQ(expand_path("~").value(), "/home/op");
    EXPECT_EQ(expand_path("keys/id~").value(), "keys/id~");
    EXPECT_EQ(expand_path("~bob/id").error().message, "\"~bob/id\": the home folder of another user");
    EXPECT_FALSE(expand_path(""));
    EXPECT_FALSE(expand_path("a\nb"));
    ASSERT_EQ(unsetenv("HOME"), 0);
    EXPECT_EQ(expand_path("~/id").error().message, "\"~/id\": HOME is not set");
}

}  // namespace
}  // namespace cleanslate::inventory
