// Which supervisors a `stop:` step stops, and which it must leave.

#include "agentless/stops.hpp"

#include <gtest/gtest.h>

#include "tests/support/match.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

const std::string unit = "/system.slice/model-server.service";
const std::string docker_id = "4f2a9c01b7de" + std::string(52, '0');
const std::string docker = "/system.slice/docker-" + docker_id + ".scope";

playbooks::StopStep step_of(playbooks::Match match = testing::holding_gpu()) {
    playbooks::StopStep step;
    step.units = step.containers = step.slurm_jobs = true;
    step.match = std::move(match);
    return step;
}

// "command (rule)" of each that is stopped, "left NAME: why" of each that is left.
std::vector<std::string> said(const StopChoice& choice) {
    std::vector<std::string> lines;
    for (const auto& stop : choice.stops) lines.push_back(stop.command + " (" + stop.rule + ")");
    for (const auto& left : choice.left) lines.push_back("left " + left.name + ": " + left.why);
    return lines;
}

std::vector<std::string> stops(Scene& scene, const playbooks::StopStep& step = step_of(),
                               const ChoicePolicy& policy = {}) {
    return said(choose_stops(step, scene.evidence(), policy));
}

using Lines = std::vector<std::string>;

TEST(Stops, AUnitOnceForAllOfItsTargets) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, unit).holder(813, 3, 500).in_cgroup(813, unit);
    const auto choice = choose_stops(step_of(), scene.evidence(), {});
    EXPECT_EQ(said(choice),
              Lines{"systemctl stop model-server.service (supervisor of 812 and 1 more (holding gpu))"});
    EXPECT_EQ(choice.stops[0].processes, (std::vector<ProcessKey>{{812, 8120}, {813, 8130}}));
}

TEST(Stops, OnlyTheKindsThatTheStepNames) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, unit).holder(813, 3, 500).in_cgroup(813, docker);
    auto step = step_of();
    step.units = step.slurm_jobs = false;
    EXPECT_EQ(stops(scene, step), Lines{"docker stop 4f2a9c01b7de (supervisor of 813 (holding gpu))"});
    step.containers = false;
    EXPECT_EQ(stops(scene, step), Lines{});
}

TEST(Stops, NothingOfEvidenceThatIsNotComplete) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, unit);
    scene.evidence().complete = false;
    EXPECT_EQ(stops(scene), Lines{});
}

TEST(Stops, NoneWhereTheListOfProcessesWasCut) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, unit);
    scene.evidence().cuts = {"files", "maps"};
    EXPECT_EQ(stops(scene),
              Lines{"left model-server.service: the list of processes was cut, so what else runs "
                    "in it is not known"});
}

TEST(Stops, NoUnitInWhichAProtectedDaemonRuns) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, unit);
    scene.daemon(700, "/usr/bin/nv-hostengine").in_cgroup(700, unit + "/monitor");
    EXPECT_EQ(stops(scene), Lines{"left model-server.service: pid 700 (nv-hostengine) runs in it: protected "
                                  "(built-in: nv-hostengine)"});
}

TEST(Stops, NoUnitThatHoldsTheLoginItself) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, unit).in_cgroup(501, unit);
    ASSERT_EQ(stops(scene).size(), 1U);
    EXPECT_TRUE(
        stops(scene)[0].starts_with("left model-server.service: pid 501 (dash) runs in it: protected"));
}

TEST(Stops, NoLoginAndNoUnitOfUnrelatedWork) {
    Scene scene(8);
    scene.holder(812, 2, 500).holder(813, 3, 500).in_cgroup(813, "/system.slice/cron.service");
    EXPECT_EQ(stops(scene), Lines{"left cron.service: unrelated work runs in it too"})
        << "that a login is not stopped is no news";
}

TEST(Stops, NoContainerThatNoCommandStops) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, "/lxc/web/init");
    EXPECT_EQ(stops(scene), Lines{"left lxc web: no command is known that stops it"});
}

TEST(Stops, AUnitNextToOneWhoseNameBeginsAlikeAlone) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, "/system.slice/a.service");
    scene.daemon(700, "/usr/bin/nv-hostengine").in_cgroup(700, "/system.slice/a.service2");
    EXPECT_EQ(stops(scene), Lines{"systemctl stop a.service (supervisor of 812 (holding gpu))"});
}

TEST(Stops, NoUnitThatAnUnreadableCgroupMayBelongTo) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, unit);
    scene.daemon(700, "/usr/bin/nv-hostengine");
    scene.get(700).cgroup.reset();
    EXPECT_EQ(
        stops(scene),
        Lines{"left model-server.service: pid 700 (nv-hostengine) may run in it, its cgroup could not be "
              "read: protected (built-in: nv-hostengine)"});
}

TEST(Stops, NoContainerWhereSomebodyWorksWhomTheMatchDoesNotMean) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, docker).process(813, 1, "bash").in_cgroup(813, docker);
    scene.get(813).uid = 1001;
    scene.get(813).user = "bob";
    auto match = testing::holding_gpu();
    EXPECT_EQ(stops(scene, step_of(match)).at(0),
              "docker stop 4f2a9c01b7de (supervisor of 812 (holding gpu))");
    const Lines left{
        "left docker 4f2a9c01b7de: pid 813 (python3.11) of bob runs in it, whom the match does not mean"};
    match.user = {"alice"};
    const auto named = stops(scene, step_of(match));
    match.user.clear();
    match.not_user = {"1001"};
    const auto excluded = stops(scene, step_of(match));
    EXPECT_EQ(named, left);
    EXPECT_EQ(excluded, left);
}

TEST(Stops, NoContainerThatHoldsAGpuWhichIsNotMeant) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, docker).holder(813, 5, 500).in_cgroup(813, docker);
    playbooks::Match match = testing::pid(812);
    match.gpus = {"2"};
    scene.get(812).open_minors = scene.get(812).mapped_minors = {2};
    const auto lines = stops(scene, step_of(match));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0],
              "left docker 4f2a9c01b7de: pid 813 (python3.11) in it uses GPU 5, which is not meant");
    match.gpus = {testing::uuid_of(2), "5"};
    EXPECT_TRUE(stops(scene, step_of(match)).at(0).starts_with("docker stop"));
}

TEST(Stops, NoContainerThatKeepsADeadOnesMemoryOnAnotherGpu) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, docker).ghost(4000, 5, 900).process(813, 1, "sleep");
    scene.in_cgroup(813, docker).get(813).open_minors = {5};
    scene.get(812).open_minors = scene.get(812).mapped_minors = {2};
    playbooks::Match match = testing::pid(812);
    match.gpus = {"2"};
    EXPECT_EQ(stops(scene, step_of(match)).at(0),
              "left docker 4f2a9c01b7de: pid 813 (python3.11) in it uses GPU 5, which is not meant");
}

TEST(Stops, NoUnitOfTheSystemWithoutRootButOnesOwn) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, unit).holder(813, 3, 500);
    scene.in_cgroup(813, "/user.slice/user-1000.slice/user@1000.service/app.slice/lab.service");
    scene.evidence().root = false;
    scene.evidence().uid = 1000;
    EXPECT_EQ(stops(scene),
              (Lines{"systemctl --user --machine=1000@ stop lab.service (supervisor of 813 (holding gpu))",
                     "left model-server.service: it is a unit of the system's, and the login is not root"}));
}

TEST(Stops, NothingThatMayRunWhatProcHides) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, unit);
    scene.evidence().proc_hides_others = true;
    EXPECT_EQ(stops(scene), Lines{"left model-server.service: /proc shows only some processes, so what else "
                                  "runs in it is not known"});
}

TEST(Stops, ASlurmJobOnlyWhereItMayBeEnded) {
    const std::string job = "/slurm/uid_1000/job_4242/step_0";
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, job);
    scene.daemon(700, "/usr/sbin/slurmstepd").in_cgroup(700, job);
    const auto choice = choose_stops(step_of(testing::pid(812)), scene.evidence(), {});
    EXPECT_TRUE(choice.stops.empty());
    ASSERT_EQ(choice.spared.size(), 1U);
    EXPECT_EQ(choice.spared[0].code, "scheduled-job");
    ChoicePolicy include;
    include.include_jobs = true;
    EXPECT_EQ(stops(scene, step_of(testing::pid(812)), include),
              Lines{"scancel 4242 (supervisor of 812 (pid 812))"});
    EXPECT_EQ(stops(scene, step_of(), include), Lines{"scancel 4242 (supervisor of 812 (holding gpu))"});
    ChoicePolicy own;
    own.own_job = "4242";
    EXPECT_EQ(stops(scene, step_of(testing::pid(812)), own),
              Lines{"scancel 4242 (supervisor of 812 (pid 812))"});
}

TEST(Stops, NoUnitInWhichAnotherUsersJobRuns) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, "/system.slice/box.service");
    scene.process(813, 1, "python3").in_cgroup(813, "/system.slice/box.service/slurm/job_7/step_0");
    ASSERT_EQ(stops(scene).size(), 1U);
    EXPECT_TRUE(
        stops(scene)[0].starts_with("left box.service: pid 813 (python3.11) runs in it: in slurm job 7"));
}

TEST(Stops, WhatWasAgreedToWithAllThatIsInIt) {
    const std::string scope = "/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope";
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, scope);
    const auto consent = consent_for(choose(testing::holding_gpu(), scene.evidence(), {}), scene.evidence());
    scene.process(813, 1, "logger").in_cgroup(813, scope);
    scene.holder(900, 3, 500).in_cgroup(900, unit);
    ChoicePolicy policy;
    policy.consent = &consent;
    const auto choice = choose_stops(step_of(), scene.evidence(), policy);
    EXPECT_EQ(said(choice),
              Lines{"systemctl --user --machine=1000@ stop run-1.scope (supervisor of 812 (holding gpu))"});
    ASSERT_EQ(choice.spared.size(), 1U);
    EXPECT_EQ(choice.spared[0].code, "new-since-plan");
}

TEST(Stops, NoUnitThatALaterChildWentIntoWhereOthersWereBefore) {
    Scene scene(8);
    scene.holder(812, 2, 500);
    const auto consent = consent_for(choose(testing::holding_gpu(), scene.evidence(), {}), scene.evidence());
    scene.holder(900, 3, 500, 812).in_cgroup(900, unit).process(700, 1, "server").in_cgroup(700, unit);
    ChoicePolicy policy;
    policy.consent = &consent;
    const auto lines = stops(scene, step_of(), policy);
    ASSERT_EQ(lines.size(), 1U) << "the login of 812 is no news";
    EXPECT_EQ(lines[0].substr(0, 60), "left model-server.service: pid 700 (python3.11) runs in it: ");
}

}  // namespace
}  // namespace cleanslate::agentless
