// Transcripts of one host's sequence: what is seen goes in, what is done comes out. No socket, no clock.

#include "agentless/sequence.hpp"

#include "transcript.hpp"

namespace cleanslate::agentless {
namespace {

using testing::alive;
using testing::ended;
using testing::Scene;
using testing::Transcript;
using namespace std::chrono_literals;

TEST_F(Transcript, CheckLooksOnceAndSignalsNothing) {
    begin(Job::Kind::check);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.signals.empty());
}

TEST_F(Transcript, ClearingACleanHostCostsNoMoreThanCheck) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8));
    expect_finish(Verdict::clean);
    EXPECT_EQ(outcome_.surveys, 1);
}

TEST_F(Transcript, AHolderThatEndsOnTermIsVerifiedTwiceWithTheSettleTimeBetween) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8).used(2, 76107));  // its memory is not back yet, and nobody is left to KILL
    expect_survey(Scene(8), 140ms);          // 20 ms later it is
    expect_survey(Scene(8), 2070ms);         // 2 s after the signal round
    expect_finish(Verdict::clean);
    EXPECT_EQ(outcome_.signals.size(), 1u);
    EXPECT_EQ(outcome_.first_signal_to_clean, 140ms);
}

TEST_F(Transcript, AHolderThatIgnoresTermIsKilled) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, alive, 10s);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("KILL", {812}, ended, 10ms);
    expect_survey(Scene(8));
    expect_survey(Scene(8), 12'110ms);
    expect_finish(Verdict::clean);
}

TEST_F(Transcript, WhatComesBackDuringSettlingIsDirtyAndItsSupervisorIsNamed) {
    begin(Job::Kind::clear);
    const std::string unit = "/system.slice/model-server.service";
    expect_survey(Scene(8).holder(812, 2, 76107).in_cgroup(812, unit));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    // 12 s where a unit may restart it
    expect_survey(Scene(8).holder(990, 2, 76107).in_cgroup(990, unit), 12'070ms);
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(has_finding("respawned", "model-server.service"));
    EXPECT_TRUE(has_finding("respawned", "systemctl stop"));
}

TEST_F(Transcript, CleanOnceAndThenInterruptedIsUnknown) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    sequence_->wind_down();
    expect_finish(Verdict::unknown);
    EXPECT_TRUE(has_finding("not-settled"));
}

TEST_F(Transcript, AfterAnInterruptionNoFurtherStepBeginsButTheHostIsLookedAtOnceMore) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, alive, 10s);
    sequence_->wind_down();
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_finish(Verdict::dirty);
    EXPECT_EQ(outcome_.signals.size(), 1u);
}

TEST_F(Transcript, ALostConnectionIsUnknownAndTheSentSignalStaysInTheOutcome) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    ASSERT_TRUE(std::holds_alternative<SendSignal>(next()));
    sequence_->failed({"connection_lost", "signal", "the host closed the connection", ""});
    expect_finish(Verdict::unknown);
    ASSERT_EQ(outcome_.signals.size(), 1u);
    EXPECT_EQ(outcome_.signals[0].result, SignalResult::sent);
}

TEST_F(Transcript, WithoutAnAuditNothingIsSent) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    const Move move = next();
    ASSERT_TRUE(std::holds_alternative<SendSignal>(move));
    sequence_->not_carried_out(move, {"audit", "audit", "disk full", ""});
    expect_finish(Verdict::unknown);
    EXPECT_EQ(outcome_.signals[0].result, SignalResult::not_sent);
}

TEST_F(Transcript, ADryRunPlansEveryStepAndDoesNothing) {
    job_.dry_run = true;
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_finish(Verdict::dirty);
    ASSERT_FALSE(outcome_.signals.empty());
    for (const auto& action : outcome_.signals) EXPECT_EQ(action.result, SignalResult::planned);
    ASSERT_TRUE(outcome_.plan);
    EXPECT_TRUE(outcome_.plan->listed.contains({812, 8120}));
}

TEST_F(Transcript, WhoAppearedAfterThePlanIsNamedAndNotSignalled) {
    task_.consent = Consent{{{812, 8120}}, {}, "11111111-2222-3333-4444-555555555555"};
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107).holder(813, 3, 500));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8).holder(813, 3, 500));
    expect_finish(Verdict::dirty);
    ASSERT_EQ(outcome_.spared.size(), 1u);
    EXPECT_EQ(outcome_.spared[0].code, "new-since-plan");
}

TEST_F(Transcript, ABystandersJobIsLeftAloneAndNobodyWaitsForIt) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107).in_cgroup(812, "/slurm/uid_1000/job_4242/step_0"));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.signals.empty());
    ASSERT_EQ(outcome_.spared.size(), 1u);
    EXPECT_EQ(outcome_.spared[0].code, "scheduled-job");
}

TEST_F(Transcript, ADeadOnesMemoryIsFreedByKillingWhoInheritedItsDescriptors) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).ghost(700, 2, 76107).opener(812));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    expect_survey(Scene(8), 2070ms);
    expect_finish(Verdict::clean);
}

TEST_F(Transcript, AnUnkillableProcessIsNamedWithWhatToDo) {
    begin(Job::Kind::clear, "by-holder");
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, alive, 10s);
    expect_survey(Scene(8).holder(812, 2, 76107).state(812, 'D'));
    expect_signal("KILL", {812}, alive, 30s);
    for (Move move = next(); std::holds_alternative<TakeSurvey>(move); move = next()) {
        now_ = std::max(now_, std::get<TakeSurvey>(move).not_before);
        sequence_->surveyed(Scene(8).holder(812, 2, 76107).state(812, 'D').evidence(), now_, now_);
        ASSERT_LT(now_ - start_, 120s) << "the wait has no end";
    }
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(has_finding("unkillable", "812"));
}

TEST_F(Transcript, AVerifyThatNeverTurnsCleanEndsWithItsTime) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, ended, 20ms);
    int surveys = 0;
    for (Move move = next(); std::holds_alternative<TakeSurvey>(move); move = next()) {
        now_ = std::max(now_, std::get<TakeSurvey>(move).not_before);
        sequence_->surveyed(Scene(8).used(2, 76107).evidence(), now_, now_);
        ASSERT_LT(++surveys, 100) << "polls too often or for ever";
    }
    expect_finish(Verdict::dirty);
    EXPECT_LT(now_ - start_, 30s);
}

TEST_F(Transcript, TheDriversVersionIsKeptOnceItWasTold) {
    begin(Job::Kind::clear);
    Scene told = Scene(8).holder(812, 2, 76107);
    told.evidence().driver_version = "580.95.05";
    expect_survey(told);
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    EXPECT_EQ(outcome_.driver_version, "580.95.05");
}

TEST_F(Transcript, AFailedCommandLeavesOutTheStepsAfterItButACleanHostStillSettles) {
    begin(Job::Kind::clear);
    job_.playbook = playbooks::parse_playbook(
                        "steps:\n"
                        "  - run: stop the gateway\n"
                        "  - signal: KILL\n"
                        "    match: {holding: gpu}\n",
                        "p.yaml")
                        .value();
    for (const bool held : {false, true}) {
        outcome_ = {};
        start_over();
        expect_survey(Scene(8).holder(812, 2, 76107));
        expect_command("stop the gateway", CommandAction::Kind::run, 1);
        const auto failed_at = now_ - start_;
        if (held) {
            expect_survey(Scene(8).holder(812, 2, 76107));
            expect_finish(Verdict::dirty);
        } else {
            expect_survey(Scene(8));
            expect_survey(Scene(8), std::chrono::duration_cast<Milliseconds>(failed_at) + 2000ms);
            expect_finish(Verdict::clean);
        }
        EXPECT_TRUE(outcome_.signals.empty());
        EXPECT_TRUE(has_finding("command-failed", "stop the gateway"));
        EXPECT_FALSE(has_finding("not-settled"));
    }
}

TEST(PauseBetweenLooks, IsTightAtFirstAndBacksOff) {
    EXPECT_EQ(pause_between_looks(0ms), 20ms);
    EXPECT_EQ(pause_between_looks(150ms), 20ms);
    EXPECT_EQ(pause_between_looks(800ms), 100ms);
    EXPECT_EQ(pause_between_looks(60'000ms), 500ms);
}

// A survey's time is left out: it comes on top of each look.
TEST(PauseBetweenLooks, NoticesWhatWasReleasedAnEighthLaterAtMostWithFewLooks) {
    int looks = 0;
    for (auto time = 0ms; time < 4000ms; ++looks) {
        const auto pause = pause_between_looks(time);
        EXPECT_LE(pause, std::max(20ms, time / 8)) << time.count();
        time += pause;
    }
    EXPECT_LE(looks, 40);
}

}  // namespace
}  // namespace cleanslate::agentless
