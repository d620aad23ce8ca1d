// The lock, and the operator's commands before, in order and after.

#include "agentless/command.hpp"
#include "transcript.hpp"

namespace cleanslate::agentless {
namespace {

using testing::ended;
using testing::Scene;
using testing::Transcript;
using namespace std::chrono_literals;
using Kind = CommandAction::Kind;

Scene held() { return Scene(8).holder(812, 2, 76107); }

class ALockedHost : public Transcript {
  protected:
    void SetUp() override {
        lock_is_free_ = false;
        begin(Job::Kind::clear);
        job_.lock_wait = 7s;
        expect_survey(held());
    }
    void expect_lock(const LockReport& report) {
        const Move move = next();
        const auto* lock = std::get_if<TakeLock>(&move);
        ASSERT_NE(lock, nullptr) << "expected the lock, got move " << move.index();
        EXPECT_EQ(lock->wait, 7s);
        sequence_->locked(report);
    }
};

TEST_F(ALockedHost, IsSignalledOnWhatWasSeenWhereTheLockWasFree) {
    expect_lock({LockReport::Result::taken, "", "", {4711, 47110}, 0ms});
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    expect_survey(Scene(8), 2070ms);
    expect_finish(Verdict::clean);
    EXPECT_TRUE(outcome_.findings.empty());
}

TEST_F(ALockedHost, IsLookedAtAgainWhereAnotherHadTheLockFirst) {
    expect_lock({LockReport::Result::taken, "", "", {4711, 47110}, 300ms});
    expect_survey(Scene(8));  // the other one cleared it
    expect_finish(Verdict::clean);
    EXPECT_TRUE(outcome_.signals.empty());
}

TEST_F(ALockedHost, IsUnknownAndUntouchedWhileAnotherWorksThere) {
    expect_lock({LockReport::Result::busy, "bob@login, cleanslate 17 since 2026-11-30\x1b[2J", "", {}, 7s});
    expect_finish(Verdict::unknown);
    EXPECT_TRUE(outcome_.signals.empty());
    EXPECT_TRUE(has_finding("host-busy", "bob@login, cleanslate 17"));
    EXPECT_TRUE(has_finding("host-busy", "nothing was done"));
    EXPECT_FALSE(has_finding("host-busy", "\x1b"));
}

TEST_F(ALockedHost, IsClearedWithANoteWhereNoLockCanBeHad) {
    expect_lock({LockReport::Result::unavailable, "", "no flock", {}, 0ms});
    expect_signal("TERM", {812}, ended, 20ms);
    EXPECT_TRUE(has_finding("not-locked", "no flock"));
}

TEST_F(ALockedHost, IsLookedAtAgainAfterALongWaitAlsoWhereNoLockCanBeHad) {
    expect_lock({LockReport::Result::unavailable, "", "no flock", {}, 0ms});
    sequence_->look_again();  // it stood in line for its place
    expect_survey(Scene(8));
    expect_finish(Verdict::clean);
    EXPECT_TRUE(outcome_.signals.empty());
}

TEST_F(Transcript, NoLockIsTakenWhereNothingIsDone) {
    begin(Job::Kind::check);
    expect_survey(held());
    expect_finish(Verdict::dirty);
    job_.dry_run = true;
    begin(Job::Kind::clear);
    expect_survey(held());
    expect_finish(Verdict::dirty);
    job_.dry_run = false;
    begin(Job::Kind::clear);
    expect_survey(Scene(8));
    expect_finish(Verdict::clean);
    EXPECT_EQ(locks_, 0);
}

constexpr const char* with_commands =
    "steps:\n"
    "  - run: check drained\n"
    "    when: before\n"
    "  - signal: TERM\n"
    "    match: {holding: gpu}\n"
    "  - run: write marker\n"
    "    when: after\n";

TEST_F(Transcript, CommandsBeforeRunAheadOfTheFirstActAndTheHostIsLookedAtAgain) {
    use(with_commands);
    expect_survey(held());
    const auto before = expect_command("check drained", Kind::before);
    EXPECT_EQ(locks_, 1) << "the lock comes first";
    const Environment environment{{"CLEANSLATE_HOST", "gpu01"},
                                  {"CLEANSLATE_VERDICT", "dirty"},
                                  {"CLEANSLATE_FINDINGS", before.environment.at(2).second},
                                  {"CLEANSLATE_STEP", "1"}};
    EXPECT_EQ(before.environment, environment);
    EXPECT_NE(before.environment.at(2).second, "");
    expect_survey(held());
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    const auto settled = std::chrono::duration_cast<Milliseconds>(now_ - start_) + 1950ms;
    expect_survey(Scene(8), settled);
    const auto after = expect_command("write marker", Kind::after);
    EXPECT_EQ(after.environment.at(1).second, "clean");
    EXPECT_EQ(after.environment.at(3).second, "3");
    expect_finish(Verdict::clean);
    EXPECT_EQ(locks_, 1);
}

TEST_F(Transcript, ACommandBeforeThatFailsVetoesTheHost) {
    use(with_commands);
    expect_survey(held());
    expect_command("check drained", Kind::before, 3);
    expect_survey(held());
    const auto after = expect_command("write marker", Kind::after);
    EXPECT_NE(after.environment.at(2).second.find("vetoed"), std::string::npos);
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.signals.empty());
    EXPECT_TRUE(has_finding("vetoed", "`check drained` ended with status 3"));
}

TEST_F(Transcript, ACommandBeforeThatRanOutOfTimeSaysSo) {
    use(with_commands);
    expect_survey(held());
    expect_command("check drained", Kind::before, 143, 60s);
    EXPECT_TRUE(has_finding("vetoed", "at its time limit of 1m00s"));
}

TEST_F(Transcript, ACleanHostGetsOnlyTheCommandsAfter) {
    use(with_commands);
    expect_survey(Scene(8));
    EXPECT_EQ(expect_command("write marker", Kind::after).environment.at(1).second, "clean");
    expect_finish(Verdict::clean);
    EXPECT_EQ(outcome_.surveys, 1);
    EXPECT_EQ(locks_, 1);
}

TEST_F(Transcript, ACommandAfterThatFailsIsNamedAndChangesNoVerdict) {
    use(with_commands);
    expect_survey(Scene(8));
    expect_command("write marker", Kind::after, 1);
    expect_finish(Verdict::clean);
    EXPECT_TRUE(has_finding("command-failed", "write marker"));
}

TEST_F(Transcript, AHostWoundDownGetsItsCommandsAfterAndOneThatIsCutDoesNot) {
    use(with_commands);
    expect_survey(held());
    expect_command("check drained", Kind::before);
    sequence_->wind_down();
    expect_survey(held());
    expect_command("write marker", Kind::after);
    expect_finish(Verdict::dirty);

    outcome_ = {};
    start_over();
    expect_survey(held());
    sequence_->cut();
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.commands.empty());
}

TEST_F(Transcript, NoCommandBeforeRunsWhereNoStepHasAnythingToDo) {
    use(with_commands);
    const Scene jobs = held().in_cgroup(812, "/slurm/uid_1000/job_4242/step_0");
    expect_survey(jobs);
    expect_command("write marker", Kind::after);
    expect_finish(Verdict::dirty);
}

TEST_F(Transcript, ACommandThatTheAuditStoppedIsNotSent) {
    use(with_commands);
    expect_survey(held());
    const Move move = next();
    ASSERT_TRUE(std::holds_alternative<RunCommand>(move));
    sequence_->not_carried_out(move, {"audit", "audit", "disk full", ""});
    expect_finish(Verdict::unknown);
    EXPECT_TRUE(outcome_.commands.at(0).not_sent);
    EXPECT_FALSE(outcome_.commands.at(0).ran_to_end);
}

}  // namespace
}  // namespace cleanslate::agentless
