#include "agentless/descriptors.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace cleanslate::agentless {
namespace {

TEST(FittingFanout, IsWhatWasWantedWhereThereIsRoom) {
    EXPECT_EQ(fitting_fanout(64, {1024, 8}, 2), 64);
    EXPECT_EQ(fitting_fanout(10'000, {1'048'576, 8}, 2), 10'000);
}

TEST(FittingFanout, IsWhatTheDescriptorsAllowElse) {
    const int fanout = fitting_fanout(10'000, {1024, 8}, 2);
    EXPECT_GT(fanout, 400);
    EXPECT_LT(fanout, 512) << "a host takes two while it logs in";
}

TEST(FittingFanout, IsOneAtLeast) {
    EXPECT_EQ(fitting_fanout(64, {20, 18}, 2), 1);
    EXPECT_EQ(fitting_fanout(64, {16, 18}, 64), 1);
    EXPECT_EQ(fitting_fanout(0, {1024, 8}, 2), 1);
}

TEST(FittingFanout, IsTwiceAsMuchWhereNoAgentIsAsked) {
    EXPECT_EQ(fitting_fanout(10'000, {20'000, 8}, 2), 9972);
    EXPECT_EQ(fitting_fanout(10'000, {20'000, 8, 1}, 2), 10'000);
}

TEST(FittingUnderWay, IsAThousandMoreThanTheFanoutAsFarAsThereAreDescriptors) {
    EXPECT_EQ(fitting_under_way(64, 64, {1'048'576, 8}, 2), 1064);
    EXPECT_EQ(fitting_under_way(64, 64, {0, 0}, 2), 1064);
    EXPECT_EQ(fitting_under_way(64, 64, {1024, 8}, 2), fitting_fanout(10'000, {1024, 8}, 2));
    EXPECT_EQ(fitting_under_way(64, 64, {20, 18}, 2), 64) << "the fan-out is what was fitted before";
}

TEST(FittingUnderWay, IsOneWhereHostsAreToBeOneAfterTheOther) {
    EXPECT_EQ(fitting_under_way(1, 1, {1'048'576, 8}, 2), 1);
}

TEST(FittingUnderWay, IsWhatTheDescriptorsAllowWhereTheFanoutWasOnlyLoweredToOne) {
    EXPECT_EQ(fitting_under_way(64, 1, {80, 8}, 2), fitting_fanout(64, {80, 8}, 2));
    EXPECT_GT(fitting_under_way(64, 1, {80, 8}, 2), 1);
}

TEST(FittingFanout, IsLeftAloneWhereNobodyCouldSay) { EXPECT_EQ(fitting_fanout(64, {0, 0}, 2), 64); }

TEST(RaiseDescriptorLimit, GoesUpToTheHardLimit) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit low = before;
    low.rlim_cur = std::min<rlim_t>(before.rlim_max, 256);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    const auto descriptors = raise_descriptor_limit();
    EXPECT_EQ(descriptors.limit, before.rlim_max);
    EXPECT_GE(descriptors.open, 3u);
    setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace cleanslate::agentless
