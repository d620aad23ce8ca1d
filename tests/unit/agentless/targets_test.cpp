#include "agentless/targets.hpp"

#include <gtest/gtest.h>

#include "tests/support/match.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using playbooks::Match;
using testing::Scene;
using testing::operator&;

const Match holders = testing::holding_gpu();
const Match holders_and_launchers = testing::holding_gpu() & testing::tree();

std::vector<Pid> pids(const Choice& choice) {
    std::vector<Pid> list;
    for (const auto& target : choice.targets) list.push_back(target.key.pid);
    return list;
}

ChoicePolicy policy_of(std::optional<std::string> own_job, bool include_jobs = false,
                       const Consent* consent = nullptr) {
    return {{}, include_jobs, std::move(own_job), consent};
}

std::string spared(const Choice& choice, Pid pid) {
    for (const auto& one : choice.spared)
        if (one.key.pid == pid) return one.code + ": " + one.why;
    return "not spared";
}

TEST(Targets, HoldersAndOpenersAreChosenOldestFirst) {
    Scene scene(8);
    scene.holder(900, 3, 500).holder(812, 2, 76107).opener(850).process(860, 1, "python3");
    const auto choice = choose(holders, scene.evidence(), {});
    EXPECT_EQ(pids(choice), (std::vector<Pid>{812, 850, 900}));
    EXPECT_EQ(choice.targets[0].rule, "holding gpu");
    EXPECT_EQ(choice.targets[0].key, (ProcessKey{812, 8120}));
    EXPECT_EQ(choice.targets[1].rule, "device file open");
    EXPECT_TRUE(choice.spared.empty());
}

TEST(Targets, OfIncompleteEvidenceNothingIsChosen) {
    Scene scene(8);
    scene.holder(812, 2, 500).evidence().complete = false;
    EXPECT_TRUE(choose(holders, scene.evidence(), {}).targets.empty());
}

TEST(Targets, TheChildThatKeepsADeadServersMemoryIsChosenWhateverItIs) {
    Scene scene(8);
    scene.ghost(4711, 2, 76107).opener(5000);
    scene.get(5000).exe = "/usr/bin/sleep";
    scene.get(5000).mapped_minors.clear();
    const auto choice = choose(holders, scene.evidence(), {});
    EXPECT_EQ(pids(choice), std::vector<Pid>{5000});
    EXPECT_EQ(choice.targets[0].rule, "holding gpu of dead pid 4711");
}

TEST(Targets, APidThatIsNotInThisProcIsNoTarget) {
    Scene scene(8);
    scene.ghost(4711, 2, 76107);
    EXPECT_TRUE(choose(holders, scene.evidence(), {}).targets.empty());
}

TEST(Targets, ZombiesAreLeftOut) {
    Scene scene(8);
    scene.holder(812, 2, 500).state(812, 'Z');
    const auto choice = choose(holders, scene.evidence(), {});
    EXPECT_TRUE(choice.targets.empty());
    EXPECT_TRUE(choice.spared.empty());
}

TEST(Targets, AProtectedDaemonIsSparedByTheRuleThatNamesIt) {
    Scene scene(8);
    scene.opener(700);
    Process& daemon = scene.get(700);
    daemon.exe = "/usr/bin/nvidia-persistenced";
    daemon.uid = 0;
    daemon.user = "root";
    const auto choice = choose(holders, scene.evidence(), {});
    EXPECT_TRUE(choice.targets.empty());
    EXPECT_EQ(spared(choice, 700), "protected: protected (built-in: nvidia-persistenced)");
}

TEST(Targets, APatternThatFindsEverythingSparesTheSessionAndInit) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    const auto choice = choose(testing::cmdline("/[a-z]"), scene.evidence(), {});
    EXPECT_EQ(pids(choice), std::vector<Pid>{812});
    EXPECT_EQ(spared(choice, 1), "protected: protected (pid 1)");
    EXPECT_EQ(spared(choice, 501), "protected: protected (the session's own ancestor)");
}

TEST(Targets, SomeoneElsesSlurmJobIsLeftAlone) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, "/slurm/uid_1003/job_4242/step_0");
    EXPECT_EQ(spared(choose(holders, scene.evidence(), {}), 812),
              "scheduled-job: in slurm job 4242 of alice; --include-jobs would include it");
    EXPECT_EQ(pids(choose(holders, scene.evidence(), policy_of({}, true))), std::vector<Pid>{812});
    EXPECT_EQ(pids(choose(holders, scene.evidence(), policy_of("4242"))), std::vector<Pid>{812});
    EXPECT_TRUE(choose(holders, scene.evidence(), policy_of("42")).targets.empty());
    EXPECT_TRUE(choose(holders, scene.evidence(), policy_of("")).targets.empty());
}

TEST(Targets, AnUnnamedJobIsNobodysOwn) {
    Scene scene(8);
    scene.holder(812, 2, 500).in_cgroup(812, "/kubepods/pod3f2a9c01-b7de-4f2a-9c01-b7de4f2a9c01");
    scene.get(812).user.clear();
    EXPECT_EQ(spared(choose(holders, scene.evidence(), policy_of("")), 812),
              "scheduled-job: in pod 3f2a9c01-b7de-4f2a-9c01-b7de4f2a9c01 of uid 1000; --include-jobs would "
              "include it");
}

TEST(Targets, ATargetCarriesItsSupervisor) {
    Scene scene(8);
    scene.holder(812, 2, 500)
        .in_cgroup(812, "/system.slice/vllm.service")
        .holder(813, 2, 500)
        .in_cgroup(813, "/");
    const auto choice = choose(holders, scene.evidence(), {});
    ASSERT_TRUE(choice.targets[0].supervisor);
    EXPECT_EQ(choice.targets[0].supervisor->name, "vllm.service");
    EXPECT_FALSE(choice.targets[1].supervisor);
}

TEST(Targets, WithoutRootOnlyOnesOwnAreChosen) {
    Scene scene(8);
    scene.holder(812, 2, 500).holder(813, 3, 500);
    scene.evidence().root = false;
    scene.evidence().uid = 1000;
    scene.get(813).uid = 1001;
    scene.get(813).user = "bob\x1b";
    const auto choice = choose(holders, scene.evidence(), {});
    EXPECT_EQ(pids(choice), std::vector<Pid>{812});
    EXPECT_EQ(spared(choice, 813), "not-permitted: it belongs to bob\\x1B, and the login is not root");
    scene.get(812).uid.reset();
    EXPECT_TRUE(choose(holders, scene.evidence(), {}).targets.empty());
}

TEST(Targets, WhatCouldNotBeObservedIsNoGroundToKill) {
    Scene scene(8);
    scene.opener(812).opener(813).process(814, 1, "python3");
    scene.get(812).exe.reset();
    scene.get(812).comm = "nvidia-smi";
    scene.get(813).uid.reset();
    scene.get(814).fds_readable = false;
    scene.evidence().apps.push_back({814, testing::uuid_of(0), Mebibytes{500}, "python3"});
    const auto choice = choose(holders, scene.evidence(), {});
    EXPECT_TRUE(choice.targets.empty());
    for (const Pid pid : {812, 813, 814})
        EXPECT_TRUE(spared(choice, pid).starts_with("not-confirmed: ")) << pid;
}

TEST(Targets, APidThatWasGivenAwayDuringTheSurveyIsSpared) {
    Scene scene(8);
    scene.opener(812).process(812, 1, "python3");
    scene.evidence().processes.back().key.start = 99999;
    const auto choice = choose(holders, scene.evidence(), {});
    EXPECT_TRUE(choice.targets.empty());
    EXPECT_TRUE(spared(choice, 812).starts_with("not-confirmed: "));
}

class Tree : public ::testing::Test {
  protected:
    // setsid'ed launcher 810 of workers 812 and 813.
    Tree() : scene_(8) {
        scene_.process(810, 1, "python3").holder(812, 2, 500, 810).holder(813, 3, 500, 810);
        for (const Pid pid : {812, 813}) scene_.get(pid).session = 810;
    }
    Scene scene_;
};

TEST_F(Tree, LaunchersGoFirstAndOnce) {
    const auto choice = choose(holders_and_launchers, scene_.evidence(), {});
    EXPECT_EQ(pids(choice), (std::vector<Pid>{810, 812, 813}));
    EXPECT_EQ(choice.targets[0].rule, "launcher of 812");
}

TEST_F(Tree, WithoutItLaunchersStay) {
    EXPECT_EQ(pids(choose(holders, scene_.evidence(), {})), (std::vector<Pid>{812, 813}));
}

TEST_F(Tree, TheTopmostLauncherGoesFirst) {
    scene_.process(811, 810, "python3");
    scene_.get(811).session = 810;
    for (const Pid pid : {810, 811}) scene_.get(pid).key.start = 700;  // within one tick of the clock
    scene_.get(812).parent = 811;
    scene_.holder(200, 1, 500);  // older than all, and nobody's launcher
    EXPECT_EQ(pids(choose(holders_and_launchers, scene_.evidence(), {})),
              (std::vector<Pid>{810, 811, 200, 812, 813}));
}

TEST_F(Tree, AMatchedLauncherIsListedOnceByItsOwnRule) {
    scene_.opener(815);
    scene_.get(813).parent = 812;
    const auto choice = choose(holders_and_launchers, scene_.evidence(), {});
    EXPECT_EQ(pids(choice), (std::vector<Pid>{810, 812, 813, 815}));
    EXPECT_EQ(choice.targets[1].rule, "holding gpu");
}

TEST_F(Tree, LaunchersOfSparedProcessesStay) {
    for (const Pid pid : {810, 812, 813}) scene_.in_cgroup(pid, "/slurm/uid_1000/job_7/step_0");
    EXPECT_TRUE(choose(holders_and_launchers, scene_.evidence(), {}).targets.empty());
}

TEST_F(Tree, ALauncherThatIsNewSinceThePlanStaysAndIsReported) {
    const Consent consent{{{812, 8120}, {813, 8130}}, {}, scene_.evidence().boot_id};
    const auto choice = choose(holders_and_launchers, scene_.evidence(), policy_of({}, false, &consent));
    EXPECT_EQ(pids(choice), (std::vector<Pid>{812, 813}));
    EXPECT_EQ(spared(choice, 810).substr(0, 15), "new-since-plan:");
    EXPECT_EQ(choice.spared.size(), 1U);
}

TEST_F(Tree, WhatAppearedSinceThePlanIsReportedAndNotChosen) {
    const auto consent = consent_for(choose(holders_and_launchers, scene_.evidence(), {}), scene_.evidence());
    scene_.holder(900, 5, 500).holder(901, 5, 500, 810);
    scene_.get(901).session = 810;
    const auto choice = choose(holders_and_launchers, scene_.evidence(), policy_of({}, false, &consent));
    EXPECT_EQ(pids(choice), (std::vector<Pid>{810, 812, 813, 901}));
    EXPECT_EQ(spared(choice, 900).substr(0, 15), "new-since-plan:");
}

TEST_F(Tree, ALoginShellAboveATargetStaysThoughItMatches) {
    scene_.process(800, 500, "bash").process(805, 800, "bash").process(806, 805, "python3");
    for (const Pid pid : {800, 805}) scene_.get(pid).exe = "/usr/bin/bash";
    scene_.get(800).argv = {"-bash"};
    scene_.get(805).argv = {"bash", "run.sh"};
    const auto choice = choose(testing::exe("bash|python"), scene_.evidence(), {});
    EXPECT_EQ(pids(choice), (std::vector<Pid>{805, 810, 806, 812, 813}));
    EXPECT_EQ(spared(choice, 800), "protected: protected (login shell or its server above a target)");
}

TEST_F(Tree, ALoginShellWithoutATargetBelowItIsWhatThePatternSays) {
    scene_.process(800, 500, "bash");
    scene_.get(800).exe = "/usr/bin/bash";
    scene_.get(800).argv = {"-bash"};
    EXPECT_EQ(pids(choose(testing::name("^bash$"), scene_.evidence(), {})), std::vector<Pid>{800});
}

}  // namespace
}  // namespace cleanslate::agentless
