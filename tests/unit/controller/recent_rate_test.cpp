#include "controller/recent_rate.hpp"

#include <gtest/gtest.h>

namespace cleanslate::controller::testing {
namespace {

// `each` done a second, noted five times a second, from `from` to `to` (seconds).
void go(RecentRate& rate, std::size_t& done, int from, int to, std::size_t each) {
    for (int tick = from * 5 + 1; tick <= to * 5; ++tick) {
        if (tick % 5 == 0) done += each;
        rate.note(Milliseconds{tick * 200}, done);
    }
}

TEST(RecentRate, IsNotToldBeforeThereIsABaseForIt) {
    RecentRate rate;
    std::size_t done = 0;
    EXPECT_FALSE(rate.per_second());
    go(rate, done, 0, 1, 100);
    EXPECT_FALSE(rate.per_second()) << "one second is no base";
    RecentRate slow;
    done = 0;
    go(slow, done, 0, 4, 1);
    EXPECT_FALSE(slow.per_second()) << "four hosts are no base";
    EXPECT_FALSE(slow.time_for(10));
}

TEST(RecentRate, IsThatOfTheLastTenSecondsAndNotOfTheWhole) {
    RecentRate rate;
    std::size_t done = 0;
    go(rate, done, 0, 20, 100);
    EXPECT_NEAR(*rate.per_second(), 100, 1);
    go(rate, done, 20, 30, 10);
    EXPECT_NEAR(*rate.per_second(), 10, 1);
    EXPECT_NEAR(static_cast<double>(rate.time_for(50)->count()), 5000, 500);
}

TEST(RecentRate, IsGoneWhereNothingMovesForTenSeconds) {
    RecentRate rate;
    std::size_t done = 0;
    go(rate, done, 0, 5, 100);
    EXPECT_TRUE(rate.time_for(1));
    go(rate, done, 5, 16, 0);
    EXPECT_FALSE(rate.per_second());
    EXPECT_FALSE(rate.time_for(1));
}

}  // namespace
}  // namespace cleanslate::controller::testing
