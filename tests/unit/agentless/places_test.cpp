// Who has a place at work, by a clock that the test moves.

#include "agentless/places.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace cleanslate::agentless {
namespace {

using namespace std::chrono_literals;

class APlace : public ::testing::Test {
  protected:
    Places::Host& begin() {
        places_.begin(hosts_.emplace_back());
        return hosts_.back();
    }
    Places::Time at(Milliseconds time) const { return Places::Time{} + time; }

    Places places_{2, 3};
    std::deque<Places::Host> hosts_;
};

TEST_F(APlace, IsHadByWhoeverIsUnderWay) {
    EXPECT_EQ(places_.room(), 2u);
    Places::Host& one = begin();
    begin();
    EXPECT_EQ(places_.room(), 0u);
    places_.end(one);
    EXPECT_EQ(places_.room(), 1u);
    EXPECT_EQ(places_.under_way(), 1u);
}

TEST_F(APlace, IsGivenAwayByAHostThatWaitsForMoreThanASecond) {
    Places::Host& silent = begin();
    begin();
    places_.waits(silent, at(0ms));
    places_.release(at(1000ms));
    EXPECT_EQ(places_.room(), 0u);
    places_.release(at(1001ms));
    EXPECT_EQ(places_.room(), 1u);
    EXPECT_EQ(places_.under_way(), 2u) << "it has its session still";
}

TEST_F(APlace, IsKeptByAHostThatAnswersAgainAndAgain) {
    Places::Host& one = begin();
    for (auto time = 0ms; time < 5000ms; time += 900ms) {
        places_.waits(one, at(time));
        places_.release(at(time + 900ms));
        places_.answered(one, at(time + 900ms), false);
    }
    places_.release(at(60'000ms));
    EXPECT_EQ(places_.at_work(), 1u);
}

TEST_F(APlace, IsFreeOnlyAsLongAsNotTooManyAreUnderWay) {
    for (int i = 0; i < 2; ++i) places_.waits(begin(), at(0ms));
    places_.release(at(2000ms));
    EXPECT_EQ(places_.room(), 1u) << "3 are the most, and 2 wait";
    Places::Host& third = begin();
    EXPECT_EQ(places_.room(), 0u);
    places_.end(hosts_.front());
    EXPECT_EQ(places_.room(), 1u);
    places_.end(third);
    EXPECT_EQ(places_.room(), 2u);
}

TEST_F(APlace, ThatWasGivenAwayIsNotTakenBackNorGivenTwice) {
    Places::Host& one = begin();
    places_.waits(one, at(0ms));
    places_.release(at(2000ms));
    places_.answered(one, at(3000ms), true);
    EXPECT_EQ(places_.at_work(), 0u);
    places_.waits(one, at(3000ms));
    places_.release(at(9000ms));
    places_.rests(one, at(9000ms), at(20'000ms));
    places_.end(one);
    EXPECT_EQ(places_.at_work(), 0u);
    EXPECT_EQ(places_.under_way(), 0u);
}

TEST_F(APlace, IsGivenAwayAtOnceForARestOfASecondAndNotForAShortOne) {
    Places::Host& one = begin();
    places_.rests(one, at(0ms), at(500ms));
    EXPECT_EQ(places_.at_work(), 1u);
    places_.rests(one, at(0ms), at(1000ms));
    EXPECT_EQ(places_.at_work(), 0u);
    EXPECT_EQ(places_.under_way(), 1u);
}

// Else a machine, or a way, that is too slow for its hosts would get more and more of them.
TEST_F(APlace, IsKeptForLongerWhereAllHostsTakeLong) {
    EXPECT_EQ(places_.patience(), 1s);
    Places::Host& one = begin();
    for (int i = 0; i < 50; ++i) {
        places_.waits(one, at(0ms));
        places_.answered(one, at(3000ms), true);
    }
    EXPECT_EQ(places_.patience(), 12s);
    places_.waits(one, at(0ms));
    places_.release(at(11'000ms));
    EXPECT_EQ(places_.at_work(), 1u);
    // What is no answer of the usual kind, a command's or a kill's, tells nothing of that.
    for (int i = 0; i < 50; ++i) {
        places_.waits(one, at(0ms));
        places_.answered(one, at(90'000ms), false);
    }
    EXPECT_EQ(places_.patience(), 12s);
    for (int i = 0; i < 100; ++i) {
        places_.waits(one, at(0ms));
        places_.answered(one, at(10ms), true);
    }
    EXPECT_EQ(places_.patience(), 1s);
}

TEST_F(APlace, IsKeptByWhoeverActsHoweverLongItTakes) {
    Places::Host& one = begin();
    EXPECT_TRUE(places_.take(one, nullptr));
    places_.waits(one, at(0ms));
    places_.release(at(90'000ms));
    EXPECT_TRUE(one.has_place());
}

TEST_F(APlace, IsHadAgainBeforeAnActAheadOfThoseThatHaveNotBegun) {
    Places::Host& slow = begin();
    places_.waits(slow, at(0ms));
    places_.release(at(2000ms));
    places_.answered(slow, at(2000ms), true);
    Places::Host& other = begin();
    begin();
    bool called = false;
    EXPECT_FALSE(places_.take(slow, [&] { called = true; }));
    EXPECT_TRUE(places_.has_line());
    EXPECT_FALSE(called);
    places_.end(other);
    EXPECT_TRUE(called);
    EXPECT_TRUE(slow.has_place());
    EXPECT_EQ(places_.room(), 0u) << "the place was its";
    EXPECT_EQ(places_.at_work(), 2u);
}

TEST_F(APlace, IsNotGivenToWhoeverHasLeftTheLine) {
    Places::Host& slow = begin();
    places_.rests(slow, at(0ms), at(5000ms));
    Places::Host& one = begin();
    Places::Host& two = begin();
    EXPECT_FALSE(places_.take(slow, nullptr));
    places_.give_up(slow);
    places_.end(one);
    EXPECT_FALSE(slow.has_place());
    EXPECT_FALSE(places_.take(two, nullptr) && places_.has_line());
    EXPECT_TRUE(places_.take(slow, nullptr)) << "and may come again";
    places_.end(slow);
    places_.end(two);
    EXPECT_EQ(places_.at_work(), 0u);
}

TEST_F(APlace, IsBegunOnWhileOthersRestOnlySoOften) {
    Places places(2, 1000);
    std::deque<Places::Host> hosts;
    for (std::size_t i = 0; i < 2 * Places::most_engaged_each; ++i) {
        ASSERT_GT(places.room(), 0u) << i;
        places.begin(hosts.emplace_back());
        EXPECT_TRUE(places.take(hosts.back(), nullptr));
        places.rests(hosts.back(), at(0ms), at(60'000ms));
    }
    EXPECT_EQ(places.at_work(), 0u);
    EXPECT_EQ(places.room(), 0u);
    EXPECT_TRUE(places.take(hosts.front(), nullptr)) << "it goes on";
    places.end(hosts.front());
    EXPECT_EQ(places.room(), 1u);
}

TEST_F(APlace, ThatASilentHostGaveAwayIsNoRoomWhereThatIsAskedStrictly) {
    Places::Host& silent = begin();
    places_.waits(silent, at(0ms));
    places_.release(at(2000ms));
    EXPECT_EQ(places_.silent(), 1u);
    EXPECT_EQ(places_.room(), 2u);
    EXPECT_EQ(places_.room(true), 1u);
    places_.answered(silent, at(3000ms), true);
    EXPECT_EQ(places_.silent(), 0u);
    EXPECT_EQ(places_.room(true), 2u);
}

TEST_F(APlace, IsThereAlsoWhereNoneWasAskedFor) {
    Places none(0, 0);
    EXPECT_EQ(none.room(), 1u);
}

}  // namespace
}  // namespace cleanslate::agentless
