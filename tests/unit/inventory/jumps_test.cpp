#include "inventory/jumps.hpp"

#include <gtest/gtest.h>

namespace cleanslate::inventory {
namespace {

std::string hops(std::string_view text) {
    const auto read = read_hops(text);
    return read ? *read : "refused: " + read.error().message;
}

// "-": no jump among them.
std::string among(std::string_view options) {
    const auto read = hops_among_ssh_options(options);
    return !read ? "refused: " + read.error().message : read->value_or("-");
}

TEST(Jumps, AreHostsWithUserAndPort) {
    for (const std::string text :
         {"jump", "root@jump:2222", "a,b", "alice@a:22,bob@b.example.com", "10.0.0.1:22", "2001:db8::1",
          "[2001:db8::1]", "u@[2001:db8::1]:22", "ssh://bastion:2222", "ssh://me@bastion/", "none"})
        EXPECT_EQ(hops(text), text);
    EXPECT_EQ(hops(" a , b:22 "), "a,b:22");
    EXPECT_EQ(hops("user@realm@jump"), "user@realm@jump") << "the last @ ends the user";
}

TEST(Jumps, AreNothingElse) {
    for (const std::string text :
         {"", ",", "a,", "a,,b", "a b", "-oProxyCommand=x", "-a@b", "a:0", "a:70000", "a:b", "a:", "@a",
          "{{ jump }}", "a\nb", "a$(id)", "none,a;", "a/b@c", "ssh://", "http://a"})
        EXPECT_TRUE(hops(text).starts_with("refused: found no jump host in ")) << hops(text);
    std::string many = "a";
    for (int i = 0; i < 20; ++i) many += ",a";
    EXPECT_EQ(hops(many), "refused: more than 16 jump hosts");
}

TEST(Jumps, AreFoundAmongSshOptions) {
    for (const std::string options :
         {"-J a,b", "-Ja,b", "-o ProxyJump=a,b", "-oProxyJump=a,b", "-o proxyjump=a,b", "-o 'ProxyJump a,b'",
          "-o ProxyJump=\"a,b\"", "-o \"ProxyJump = a,b\"", "-q -4J a,b",
          "-o StrictHostKeyChecking=no -J a,b", "-i key -J a,b -J c", "-o\tProxyJump=a,b"})
        EXPECT_EQ(among(options), "a,b") << options;
    EXPECT_EQ(among("-J none"), "none");
}

TEST(Jumps, AreNotFoundWhereOtherOptionsStand) {
    for (const std::string options :
         {"", "-o ProxyCommand=\"ssh -W %h:%p -J a b\"", "-i -J a", "-F -J", "-o ProxyJumpy=a", "-J",
          "-o ProxyJump", "jump -q", "-o ControlPersist=60s -o 'ControlPath=~/a b'", "-W -J a"})
        EXPECT_EQ(among(options), "-") << options;
}

TEST(Jumps, AmongSshOptionsAreReadAsStrictly) {
    EXPECT_EQ(among("-J '{{ jump }}'"), "refused: found no jump host in \"{{ jump }}\"");
    EXPECT_EQ(among("-J 'a"), "refused: a quote has no end");
    EXPECT_EQ(among("-o ProxyJump="), "refused: found no jump host in \"\"");
}

}  // namespace
}  // namespace cleanslate::inventory
