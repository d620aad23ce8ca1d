#include "tests/fleet/scale/kinds.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cleanslate::simulated {
namespace {

long count(const std::vector<Kind>& kinds, Kind kind) { return std::ranges::count(kinds, kind); }

TEST(Kinds, EachShareIsAsLargeAsItsPercentageAndNoHostHasTwo) {
    const auto kinds = choose_kinds(1000, {{Kind::dirty, 5}, {Kind::black_hole, 2.5}, {Kind::dirty, 1}}, 7);
    EXPECT_EQ(count(kinds, Kind::dirty), 60);
    EXPECT_EQ(count(kinds, Kind::black_hole), 25);
    EXPECT_EQ(count(kinds, Kind::healthy), 915);
}

TEST(Kinds, ASeedGivesTheSameFleetAgainAndAnotherSeedAnotherOne) {
    const std::vector<Share> shares{{Kind::sick, 10}, {Kind::deny, 10}};
    EXPECT_EQ(choose_kinds(200, shares, 1), choose_kinds(200, shares, 1));
    EXPECT_NE(choose_kinds(200, shares, 1), choose_kinds(200, shares, 2));
}

TEST(Kinds, WhatASeedChoosesIsTheSameOnEveryMachine) {
    const auto kinds = choose_kinds(100, {{Kind::dirty, 2}}, 1);
    EXPECT_EQ(kinds[32], Kind::dirty);
    EXPECT_EQ(kinds[42], Kind::dirty);
}

TEST(Kinds, TheHostsOfAShareStayWhereASmallerOneFollows) {
    const auto alone = choose_kinds(100, {{Kind::dirty, 10}}, 3);
    const auto beside = choose_kinds(100, {{Kind::dirty, 10}, {Kind::sick, 10}}, 3);
    for (std::size_t i = 0; i < alone.size(); ++i)
        EXPECT_EQ(alone[i] == Kind::dirty, beside[i] == Kind::dirty) << i;
}

TEST(Kinds, AShareMayBeAllOrNothing) {
    EXPECT_EQ(count(choose_kinds(7, {{Kind::slow, 100}}, 1), Kind::slow), 7);
    EXPECT_EQ(count(choose_kinds(7, {{Kind::slow, 0}}, 1), Kind::slow), 0);
    EXPECT_TRUE(choose_kinds(0, {{Kind::slow, 100}}, 1).empty());
}

TEST(Kinds, EachHasItsName) {
    for (int i = 1; i <= static_cast<int>(Kind::lost_mid_kill); ++i) {
        const auto kind = static_cast<Kind>(i);
        EXPECT_EQ(find_kind(name_of(kind)), kind) << name_of(kind);
    }
    EXPECT_EQ(find_kind("healthy"), std::nullopt);
    EXPECT_EQ(find_kind("dirt"), std::nullopt);
}

}  // namespace
}  // namespace cleanslate::simulated
