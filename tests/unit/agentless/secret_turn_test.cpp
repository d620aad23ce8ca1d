#include "agentless/secret_turn.hpp"

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
    std::unique_ptr<SecretTurn> turn(const std::string& host, const std::string& whose = {}) {
        return std::make_unique<SecretTurn>(secret, host, whose);
    }
    Leave ask(SecretTurn& turn) {
        return turn.asked([this] { ++wakes; });
    }
    std::shared_ptr<SharedSecret> secret = std::make_shared<SharedSecret>(password);
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
    EXPECT_TRUE(secret->barred("gpu03"));
}

TEST_F(Turns, ALaterRefusalStopsFurtherHostsButNotThoseThatAcceptedIt) {
    const auto first = turn("gpu01"), second = turn("gpu02");
    ask(*first);
    first->passed();
    ask(*second);
    second->refused();
    EXPECT_EQ(ask(*turn("gpu03")), Leave::withhold);
    EXPECT_EQ(ask(*turn("gpu01")), Leave::give) << "its processes may just have been signalled";
    const auto late = turn("gpu01");
    ask(*late);
    late->passed();
    EXPECT_EQ(ask(*turn("gpu04")), Leave::withhold) << "a refusal is not forgotten";
    EXPECT_FALSE(secret->barred("gpu01"));
    EXPECT_TRUE(secret->barred("gpu04"));
}

TEST_F(Turns, AHostThatRefusesWhatItAcceptedIsNotGivenItAgain) {
    const auto first = turn("gpu01"), again = turn("gpu01");
    ask(*first);
    first->passed();
    ask(*again);
    again->refused();
    EXPECT_EQ(ask(*turn("gpu01")), Leave::withhold);
}

TEST_F(Turns, WhatOneAccountsHostSaysIsNothingAboutAnothers) {
    const auto root = turn("gpu01", "root"), alice = turn("gpu02", "alice");
    EXPECT_EQ(ask(*root), Leave::give);
    EXPECT_EQ(ask(*alice), Leave::give) << "each account's first host tries it";
    root->refused();
    const auto late = turn("gpu03", "root");
    EXPECT_EQ(ask(*late), Leave::withhold);
    EXPECT_EQ(late->withheld(), "the password of root was refused on gpu01: not tried here");
    alice->passed();
    EXPECT_EQ(ask(*turn("gpu04", "alice")), Leave::give);
    EXPECT_TRUE(secret->barred("gpu04", "root"));
    EXPECT_FALSE(secret->barred("gpu04", "alice"));
    EXPECT_FALSE(secret->barred("gpu04"));
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

// A host that refuses one method before it asks for the password is given it by the next.
TEST_F(Turns, WhatIsSaidOfASecondGivingIsHeardToo) {
    const auto first = turn("gpu01"), second = turn("gpu02");
    ask(*first);
    first->unsaid();
    EXPECT_EQ(ask(*first), Leave::give);
    EXPECT_EQ(ask(*second), Leave::wait);
    first->refused();
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(ask(*second), Leave::withhold);
    EXPECT_EQ(second->withheld(), "the password was refused on gpu01: not tried here");
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
    SecretTurn none(nullptr, "gpu01");
    EXPECT_EQ(ask(none), Leave::withhold);
}

TEST_F(Turns, OfManyThreadsOneAloneTriesIt) {
    std::atomic<int> given = 0;
    std::vector<std::thread> threads;
    std::vector<std::unique_ptr<SecretTurn>> turns;
    for (int i = 0; i < 16; ++i) turns.push_back(turn("gpu" + std::to_string(i)));
    for (auto& one : turns)
        threads.emplace_back([&given, &one] { given += one->asked([] {}) == Leave::give ? 1 : 0; });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(given, 1);
}

}  // namespace
}  // namespace cleanslate::agentless
