#include "inventory/jumps.hpp"

#include <gtest/gtest.h>

namespace cleanslate::inventory {
namespace {

std::string hops(std::string_view text) {
    const auto read = read_hops(text);
    return read ? *read : "refused: " + read.error().message;
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

}  // namespace
}  // namespace cleanslate::inventory
