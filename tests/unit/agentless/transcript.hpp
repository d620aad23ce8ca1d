#pragma once
// A test of one host's sequence reads like a transcript: what is seen goes in, what is done comes out.

#include <gtest/gtest.h>

#include "agentless/nvidia_smi_optional.hpp"
#include "agentless/sequence.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless::testing {

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
    // The next move; the lock is had at once, unless a test wants to answer for it.
    Move next() {
        Move move = sequence_->next(now_);
        if (!lock_is_free_ || !std::holds_alternative<TakeLock>(move)) return move;
        ++locks_;
        sequence_->locked({LockReport::Result::taken, "", "", {4711, 47110}, 0ms});
        return sequence_->next(now_);
    }
    void use(const std::string& steps) {
        job_.kind = Job::Kind::clear;
        job_.playbook = playbooks::parse_playbook(steps, "p.yaml").value();
        task_.host.name = "gpu01";
        start_over();
    }
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
    // The next move must be this command; it ends with `status` after `took`.
    RunCommand expect_command(const std::string& command, CommandAction::Kind kind, int status = 0,
                              Milliseconds took = 10ms) {
        const Move move = next();
        const auto* run = std::get_if<RunCommand>(&move);
        EXPECT_NE(run, nullptr) << "expected " << command << ", got move " << move.index();
        if (run == nullptr) return {};
        EXPECT_EQ(run->command, command);
        CommandAction& action = outcome_.commands.at(run->action);
        EXPECT_EQ(to_string(action.kind), to_string(kind));
        action.ran_to_end = true;
        action.exit_status = status;
        action.ok = status == run->expect_status;
        action.took = took;
        now_ += took;
        sequence_->command_ended(*run, now_);
        return *run;
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
    bool lock_is_free_ = true;
    int locks_ = 0;
    const TimePoint start_{};
    TimePoint now_{};
};

inline constexpr auto ended = SignalReply::Result::ended;
inline constexpr auto alive = SignalReply::Result::alive;

}  // namespace cleanslate::agentless::testing
