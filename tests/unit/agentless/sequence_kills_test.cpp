// Signal and stop steps, and the limits on how many processes may be ended.

#include <algorithm>

#include "transcript.hpp"

namespace cleanslate::agentless {
namespace {

using testing::alive;
using testing::ended;
using testing::Scene;
using testing::Transcript;
using namespace std::chrono_literals;
using Kind = CommandAction::Kind;

Scene many(int count) {
    Scene scene(8);
    for (int i = 0; i < count; ++i) scene.holder(800 + i, i % 8, 100);
    return scene;
}

Scene served() {
    const std::string unit = "/system.slice/model-server.service";
    return Scene(8).holder(812, 2, 76107).in_cgroup(812, unit);
}

constexpr const char* stop_units =
    "steps:\n"
    "  - stop: [units]\n"
    "    match: {holding: gpu}\n"
    "  - signal: KILL\n"
    "    match: {holding: gpu}\n";

TEST_F(Transcript, ASupervisorIsStoppedByItsCommandAndTheHostSettlesForLong) {
    use(stop_units);
    expect_survey(served());
    EXPECT_TRUE(asked_.all_processes);
    const auto stop = expect_command("systemctl stop model-server.service", Kind::stop);
    EXPECT_EQ(stop.fresh, 1);
    EXPECT_TRUE(stop.environment.empty());
    EXPECT_EQ(locks_, 1);
    expect_survey(Scene(8));
    expect_survey(Scene(8), 12'060ms);
    expect_finish(Verdict::clean);
    EXPECT_NE(outcome_.commands.at(0).about, "");
}

TEST_F(Transcript, ASupervisorThatDoesNotStopIsNamedAndTheNextStepGoesOn) {
    use(stop_units);
    expect_survey(served());
    expect_command("systemctl stop model-server.service", Kind::stop, 5);
    expect_survey(served());
    expect_signal("KILL", {812}, ended, 20ms);
    EXPECT_TRUE(has_finding("stop-failed", "ended with status 5"));
    EXPECT_FALSE(has_finding("command-failed"));
}

TEST_F(Transcript, WhatMayNotBeStoppedIsNamed) {
    use(stop_units);
    Scene mixed = served();
    mixed.daemon(900, "/usr/bin/nvidia-persistenced").in_cgroup(900, "/system.slice/model-server.service");
    expect_survey(mixed);
    expect_signal("KILL", {812}, ended, 20ms);
    EXPECT_TRUE(has_finding("supervisor-left", "model-server.service"));
}

// A unit is stopped as a whole: its workers count, whether they hold a GPU or not.
TEST_F(Transcript, AllThatEndsWithASupervisorCountsAgainstTheLimit) {
    job_.max_kills = 2;
    use(stop_units);
    Scene scene = served();
    for (const Pid pid : {813, 814})
        scene.process(pid, 812, "worker").in_cgroup(pid, "/system.slice/model-server.service");
    expect_survey(scene);
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.commands.empty());
    EXPECT_TRUE(has_finding("too-many-targets", "3 processes would be signalled, and --max-kills allows 2"));
}

TEST_F(Transcript, MoreTargetsThanAllowedAndNothingIsSignalled) {
    job_.max_kills = 3;
    begin(Job::Kind::clear);
    expect_survey(many(4));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.signals.empty());
    EXPECT_EQ(locks_, 0);
    EXPECT_TRUE(has_finding("too-many-targets", "4 processes would be signalled, and --max-kills allows 3"));
}

TEST_F(Transcript, AsManyTargetsAsAllowedAreSignalledAndSignalledAgain) {
    job_.max_kills = 1;
    begin(Job::Kind::clear);
    expect_survey(many(1));
    expect_signal("TERM", {800}, alive, 10s);
    expect_survey(many(1));
    expect_signal("KILL", {800}, ended, 20ms);
    EXPECT_FALSE(has_finding("too-many-targets"));
}

TEST_F(Transcript, TheLimitOfThePlaybookHoldsWhereNoOtherIsGiven) {
    begin(Job::Kind::clear);
    job_.playbook->max_kills = 2;
    start_over();
    expect_survey(many(3));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(has_finding("too-many-targets", "the playbook's max_kills allows 2"));
    EXPECT_TRUE(outcome_.signals.empty());
}

TEST_F(Transcript, TargetsOfLaterStepsCountBeforeTheFirstIsSignalled) {
    job_.max_kills = 1;
    use("steps:\n"
        "  - signal: TERM\n"
        "    match: {pid: 800}\n"
        "  - signal: TERM\n"
        "    match: {pid: 801}\n");
    expect_survey(many(2));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.signals.empty());
}

TEST_F(Transcript, WhatRefillsFasterThanItIsKilledStopsAtTheLimit) {
    job_.max_kills = 5;
    begin(Job::Kind::clear);
    expect_survey(many(3));
    expect_signal("TERM", {800, 801, 802}, ended, 20ms);
    Scene refilled(8);
    for (int pid = 900; pid < 903; ++pid) refilled.holder(pid, 1, 100);
    expect_survey(refilled);
    expect_finish(Verdict::dirty);
    EXPECT_EQ(outcome_.signals.size(), 3u);
    EXPECT_TRUE(has_finding("too-many-targets", "none after the first 3"));
}

TEST_F(Transcript, ARoundThatTheWholeSweepHasNoRoomForIsNotSent) {
    job_.max_kills_total = 10;
    begin(Job::Kind::clear);
    expect_survey(many(2));
    const Move move = next();
    ASSERT_TRUE(std::holds_alternative<SendSignal>(move));
    EXPECT_EQ(std::get<SendSignal>(move).fresh, 2);
    sequence_->too_many_in_total(move, 10);
    expect_finish(Verdict::dirty);
    for (const auto& action : outcome_.signals) EXPECT_EQ(action.result, SignalResult::not_sent);
    EXPECT_TRUE(has_finding("too-many-targets", "more than the 10 that --max-kills-total allows"));
}

TEST_F(Transcript, WhoWasSignalledBeforeIsNotFresh) {
    begin(Job::Kind::clear);
    expect_survey(many(2));
    expect_signal("TERM", {800, 801}, alive, 10s);
    expect_survey(many(3));
    const Move move = next();
    ASSERT_TRUE(std::holds_alternative<SendSignal>(move));
    EXPECT_EQ(std::get<SendSignal>(move).request.targets.size(), 3u);
    EXPECT_EQ(std::get<SendSignal>(move).fresh, 1);
}

TEST_F(Transcript, WithoutASchedulerNothingIsSignalledWhereThePlaybookWantsOne) {
    begin(Job::Kind::clear);
    job_.playbook->scheduled_hosts_only = true;
    start_over();
    expect_survey(many(2));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.signals.empty());
    EXPECT_EQ(std::ranges::count(outcome_.findings, "no-scheduler", &Finding::code), 1);

    task_.host.unscheduled = true;
    outcome_ = {};
    start_over();
    expect_survey(many(2));
    expect_signal("TERM", {800, 801}, ended, 20ms);
    EXPECT_FALSE(has_finding("no-scheduler"));
}

// A worker that needs seconds to load is not back in the time that is enough for others.
TEST_F(Transcript, AHostSettlesForLongWhereALauncherWasLeftAndIsToldSo) {
    use("steps: [{signal: KILL, match: {holding: gpu}}]");
    expect_survey(Scene(8).process(700, 1, "launch").holder(812, 2, 76107, 700));
    expect_signal("KILL", {812}, ended, 20ms);
    expect_survey(Scene(8));
    expect_survey(Scene(8), 12'070ms);
    expect_finish(Verdict::clean);
    EXPECT_TRUE(has_finding("launcher-left", "pid 700 (launch) started pid 812"));
}

TEST_F(Transcript, AHostSettlesForTheUsualTimeWhereTheLauncherWentToo) {
    use("steps: [{signal: KILL, match: {holding: gpu, tree: true}}]");
    expect_survey(Scene(8).process(700, 1, "launch").holder(812, 2, 76107, 700));
    expect_signal("KILL", {700, 812}, ended, 20ms);
    expect_survey(Scene(8));
    expect_survey(Scene(8), 2'070ms);
    expect_finish(Verdict::clean);
    EXPECT_FALSE(has_finding("launcher-left"));
}

}  // namespace
}  // namespace cleanslate::agentless
