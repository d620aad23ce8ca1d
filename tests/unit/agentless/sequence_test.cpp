// Transcripts of one host's sequence: what is seen goes in, what is done comes out. No socket, no clock.

#include "agentless/sequence.hpp"

#include <gtest/gtest.h>

#include "agentless/nvidia_smi_optional.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;
using namespace std::chrono_literals;

// Plays a host: a survey at a given millisecond, the answers to signals.
class Transcript : public ::testing::Test {
  protected:
    void begin(Job::Kind kind, const std::string& playbook = "clear") {
        job_.kind = kind;
        if (kind == Job::Kind::clear) job_.playbook = playbooks::load_playbook(playbook).value();
        task_.host.name = "gpu01";
        start_over();
    }
    void start_over() { sequence_.emplace(job_, task_, SurveyRequest{}, outcome_); }
    Move next() { return sequence_->next(now_); }
    // The next move must be a survey; it begins when it may and sees `scene`.
    void expect_survey(Scene scene, Milliseconds not_before = 0ms) {
        const Move move = next();
        const auto* survey = std::get_if<TakeSurvey>(&move);
        ASSERT_NE(survey, nullptr) << "expected a survey, got move " << move.index();
        EXPECT_EQ(survey->not_before - start_, std::max<TimePoint::duration>(not_before, now_ - start_));
        now_ = std::max(now_, survey->not_before);
        asked_ = survey->request;
        if (asked_.optional_evidence) tell_optional(scene);
        sequence_->surveyed(scene.evidence(), now_, now_ + 50ms);
        now_ += 50ms;
    }
    // What this host's nvidia-smi answers when it is asked for optional evidence.
    void tell_optional(Scene& scene) const {
        Evidence& evidence = scene.evidence();
        for (GpuRow& row : evidence.gpus) {
            if (row.index != 5) continue;
            row.optional = {{"remapped_rows.pending", remap_pending_}};
            judge_optional_columns(row);
        }
        evidence.optional_query.exit_status = evidence.list_query.exit_status = 0;
        evidence.optional_fields = {"remapped_rows.pending"};
    }
    // The next move must be `signal` to exactly these; everybody answers `result` after `took`.
    void expect_signal(const std::string& signal, std::vector<Pid> pids, SignalReply::Result result,
                       Milliseconds took) {
        const Move move = next();
        const auto* send = std::get_if<SendSignal>(&move);
        ASSERT_NE(send, nullptr) << "expected " << signal << ", got move " << move.index();
        EXPECT_EQ(send->request.signal, signal);
        std::vector<Pid> got;
        SignalReport report{true, {}};
        for (const auto& target : send->request.targets) {
            got.push_back(target.pid);
            report.replies.push_back({target, result, took, 'S', std::nullopt});
        }
        EXPECT_EQ(got, pids);
        const auto sent = now_;
        now_ += took;
        sequence_->signalled(report, sent, now_);
    }
    void expect_finish(Verdict verdict) {
        const Move move = next();
        ASSERT_TRUE(std::holds_alternative<Finish>(move)) << "expected the end, got move " << move.index();
        EXPECT_EQ(to_string(outcome_.verdict), to_string(verdict));
    }
    bool has_finding(std::string_view code, std::string_view part = "") const {
        for (const auto& f : outcome_.findings)
            if (f.code == code && (f.text + " " + f.remedy).find(part) != std::string::npos) return true;
        return false;
    }

    Job job_;
    HostTask task_;
    HostOutcome outcome_;
    std::optional<Sequence> sequence_;
    SurveyRequest asked_;  // of the last survey
    std::string remap_pending_ = "No";
    const TimePoint start_{};
    TimePoint now_{};
};

constexpr auto ended = SignalReply::Result::ended;
constexpr auto alive = SignalReply::Result::alive;

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
    expect_survey(Scene(8), 170ms);          // 50 ms later it is
    expect_survey(Scene(8), 2070ms);         // 2 s after the signal round
    expect_finish(Verdict::clean);
    EXPECT_EQ(outcome_.signals.size(), 1u);
    EXPECT_EQ(outcome_.first_signal_to_clean, 170ms);
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

TEST_F(Transcript, OptionalEvidenceIsAskedForFirstAndByTheSurveyThatConfirmsAndNotInBetween) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    EXPECT_TRUE(asked_.optional_evidence);
    EXPECT_FALSE(asked_.optional_fields) << "nothing is known of this host's nvidia-smi yet";
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8).used(2, 76107));
    EXPECT_FALSE(asked_.optional_evidence) << "it follows a signal";
    expect_survey(Scene(8), 170ms);
    EXPECT_FALSE(asked_.optional_evidence) << "it waits for memory";
    expect_survey(Scene(8), 2070ms);
    EXPECT_TRUE(asked_.optional_evidence) << "it confirms";
    EXPECT_EQ(asked_.optional_fields, std::vector<std::string>{"remapped_rows.pending"})
        << "what its nvidia-smi knows was found out once";
    expect_finish(Verdict::clean);
    ASSERT_EQ(outcome_.last->gpus[5].optional.size(), 1u);
}

TEST_F(Transcript, ACheckAndADryRunAlwaysAskForOptionalEvidence) {
    for (const bool dry_run : {false, true}) {
        outcome_ = {};
        job_.dry_run = dry_run;
        begin(dry_run ? Job::Kind::clear : Job::Kind::check);
        remap_pending_ = "Yes";
        expect_survey(Scene(8).holder(812, 2, 76107));
        EXPECT_TRUE(asked_.optional_evidence);
        expect_finish(Verdict::sick);
    }
}

TEST_F(Transcript, AGpuStaysSickThroughSurveysThatDoNotAsk) {
    begin(Job::Kind::clear);
    remap_pending_ = "Yes";
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    EXPECT_FALSE(asked_.optional_evidence);
    expect_finish(Verdict::sick);
    EXPECT_EQ(outcome_.last->gpus[5].verdict, Verdict::sick);
    EXPECT_EQ(outcome_.last->gpus[2].verdict, Verdict::clean);
}

TEST_F(Transcript, AGpuWhoseRowWasMissingForASurveyIsSickAgainWithIt) {
    begin(Job::Kind::clear);
    remap_pending_ = "Yes";
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, ended, 20ms);
    Scene without(8);
    without.used(2, 76107);
    auto& gpus = without.evidence().gpus;
    gpus.erase(gpus.begin() + 5);
    expect_survey(without);
    EXPECT_EQ(outcome_.last->gpus.size(), 8u);
    expect_survey(Scene(8), 170ms);
    EXPECT_FALSE(asked_.optional_evidence);
    EXPECT_EQ(outcome_.last->gpus[5].verdict, Verdict::sick);
    expect_finish(Verdict::sick);
}

TEST_F(Transcript, AGpuThatTurnsSickWhileItSettlesIsNotClean) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    remap_pending_ = "Yes";
    expect_survey(Scene(8), 2070ms);
    expect_finish(Verdict::sick);
}

TEST_F(Transcript, ACommandMayCureAGpuSoTheSurveyAfterItAsks) {
    begin(Job::Kind::clear);
    job_.playbook =
        playbooks::parse_playbook("steps:\n  - run: nvidia-smi --gpu-reset -i 5\n", "p.yaml").value();
    start_over();
    remap_pending_ = "Yes";
    expect_survey(Scene(8));
    EXPECT_EQ(outcome_.last->gpus[5].verdict, Verdict::sick);
    ASSERT_TRUE(std::holds_alternative<RunCommand>(next()));
    outcome_.commands.back().ok = true;
    sequence_->command_ended(now_);
    remap_pending_ = "No";
    expect_survey(Scene(8));
    EXPECT_TRUE(asked_.optional_evidence);
    expect_survey(Scene(8), 2050ms);
    expect_finish(Verdict::clean);
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
        ASSERT_TRUE(std::holds_alternative<RunCommand>(next()));
        outcome_.commands.back().exit_status = 1;
        sequence_->command_ended(now_);
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

}  // namespace
}  // namespace cleanslate::agentless
