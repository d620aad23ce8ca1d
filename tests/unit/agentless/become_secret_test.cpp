#include "agentless/become_secret.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

namespace cleanslate::agentless {
namespace {

using ::testing::HasSubstr;
using Leave = Script::Warden::Leave;

const std::string password = "open-sesame-4711";

class Turns : public ::testing::Test {
  protected:
    std::unique_ptr<BecomeTurn> turn(const std::string& host, bool accepted_before = false) {
        return std::make_unique<BecomeTurn>(secret, host, accepted_before);
    }
    Leave ask(BecomeTurn& turn) {
        return turn.asked([this] { ++wakes; });
    }
    std::shared_ptr<BecomeSecret> secret = std::make_shared<BecomeSecret>(password);
    int wakes = 0;
};

TEST_F(Turns, OneHostTriesItWhileTheOthersWait) {
    const auto first = turn("gpu01"), second = turn("gpu02"), third = turn("gpu03");
    EXPECT_EQ(ask(*first), Leave::give);
    EXPECT_EQ(ask(*second), Leave::wait);
    EXPECT_EQ(ask(*third), Leave::wait);
    EXPECT_EQ(second->waits_for(), "gpu01");
    first->passed();
    EXPECT_EQ(wakes, 2);
    EXPECT_EQ(ask(*second), Leave::give);
    EXPECT_EQ(ask(*third), Leave::give) << "accepted once, all go freely";
}

TEST_F(Turns, ARefusedOneIsGivenToNobodyElse) {
    const auto first = turn("gpu01"), second = turn("gpu02");
    ask(*first);
    ask(*second);
    first->refused();
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(ask(*second), Leave::withhold);
    EXPECT_EQ(second->withheld(), "the password was refused on gpu01: not tried here");
    EXPECT_EQ(ask(*turn("gpu03")), Leave::withhold);
    EXPECT_TRUE(secret->barred());
}

TEST_F(Turns, ALaterRefusalStopsFurtherHostsButNotThoseThatAcceptedIt) {
    const auto first = turn("gpu01"), second = turn("gpu02");
    ask(*first);
    first->passed();
    ask(*second);
    second->refused();
    EXPECT_EQ(ask(*turn("gpu03")), Leave::withhold);
    EXPECT_EQ(ask(*turn("gpu01", true)), Leave::give) << "its processes may just have been signalled";
    const auto late = turn("gpu01", true);
    ask(*late);
    late->passed();
    EXPECT_EQ(ask(*turn("gpu04")), Leave::withhold) << "a refusal is not forgotten";
}

TEST_F(Turns, AHostThatIsCutBeforeItSaidAnythingBarsThePasswordToo) {
    auto first = turn("gpu01");
    const auto second = turn("gpu02");
    ask(*first);
    ask(*second);
    first.reset();
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(ask(*second), Leave::withhold);
    EXPECT_THAT(second->withheld(), HasSubstr("gpu01 was given the password and never said"));
}

TEST_F(Turns, AHostThatIsCutAfterAnotherAcceptedItChangesNothing) {
    const auto first = turn("gpu01");
    ask(*first);
    first->passed();
    ask(*turn("gpu02"));
    EXPECT_EQ(ask(*turn("gpu03")), Leave::give);
}

TEST_F(Turns, AHostThatEndedForAnotherReasonLetsTheNextOneTry) {
    const auto first = turn("gpu01"), second = turn("gpu02");
    ask(*first);
    ask(*second);
    first->unsaid();
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(ask(*second), Leave::give);
}

TEST_F(Turns, OneThatNoLongerWaitsIsNotWoken) {
    const auto first = turn("gpu01");
    ask(*first);
    auto second = turn("gpu02");
    ask(*second);
    second.reset();
    first->passed();
    EXPECT_EQ(wakes, 0);
}

TEST_F(Turns, ARunThatWasNotAskedSaysNothingAboutThePassword) {
    const auto quiet = turn("gpu01");
    quiet->passed();
    const auto first = turn("gpu02"), second = turn("gpu03");
    EXPECT_EQ(ask(*first), Leave::give);
    EXPECT_EQ(ask(*second), Leave::wait);
}

TEST_F(Turns, WithoutASecretEveryAnswerIsWithheld) {
    BecomeTurn none(nullptr, "gpu01", false);
    EXPECT_EQ(ask(none), Leave::withhold);
}

TEST_F(Turns, OfManyThreadsOneAloneTriesIt) {
    std::atomic<int> given = 0;
    std::vector<std::thread> threads;
    std::vector<std::unique_ptr<BecomeTurn>> turns;
    for (int i = 0; i < 16; ++i) turns.push_back(turn("gpu" + std::to_string(i)));
    for (auto& one : turns)
        threads.emplace_back([&given, &one] { given += one->asked([] {}) == Leave::give ? 1 : 0; });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(given, 1);
}

TEST(BecomeSecret, HidesItselfWhereverItStands) {
    const BecomeSecret secret(password);
    EXPECT_EQ(secret.hide_in("sh: 1: open-sesame-4711: not found, open-sesame-4711open-sesame-4711"),
              "sh: 1: [password]: not found, [password][password]");
    EXPECT_EQ(BecomeSecret("a").hide_in("a [password] a"), "[password] [p[password]ssword] [password]");
    EXPECT_EQ(BecomeSecret("").hide_in("abc"), "abc");
}

}  // namespace
}  // namespace cleanslate::agentless
