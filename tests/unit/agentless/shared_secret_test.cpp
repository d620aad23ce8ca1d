#include "agentless/shared_secret.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless {
namespace {

TEST(SharedSecret, HidesItselfWhereverItStands) {
    const SharedSecret secret("open-sesame-4711");
    EXPECT_EQ(secret.hide_in("sh: 1: open-sesame-4711: not found, open-sesame-4711open-sesame-4711"),
              "sh: 1: [password]: not found, [password][password]");
    EXPECT_EQ(SharedSecret("a").hide_in("a [password] a"), "[password] [p[password]ssword] [password]");
    EXPECT_EQ(SharedSecret("").hide_in("abc"), "abc");
}

}  // namespace
}  // namespace cleanslate::agentless
