#include "agentless/target_rules.hpp"

#include <gtest/gtest.h>

#include "tests/support/match.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using namespace testing;
using playbooks::Match;

std::string told(const Choice& choice) {
    std::string text;
    for (const auto& one : choice.targets) text += fmt::format("{}: {}\n", one.key.pid, one.rule);
    for (const auto& one : choice.spared) text += fmt::format("{} {}: {}\n", one.key.pid, one.code, one.why);
    return text;
}

TEST(TargetRules, AProcessThatAlsoUsesAnothersGpuIsSparedByName) {
    Scene scene(4);
    scene.holder(812, 0, 500).holder(813, 0, 500).listed(813, 3, 500).holder(814, 3, 500);
    EXPECT_EQ(told(choose(on_gpus({"0", "1"}), scene.evidence(), {})),
              "812: holding gpu on GPU 0\n"
              "813 other-gpu: it also uses GPU 3\n");
    EXPECT_EQ(told(choose(on_gpus({uuid_of(0), "3"}), scene.evidence(), {})),
              "812: holding gpu on GPU 0\n"
              "813: holding gpu on GPU 0, GPU 3\n"
              "814: holding gpu on GPU 3\n");
    EXPECT_EQ(told(choose(on_gpus({"7"}), scene.evidence(), {})), "");
}

TEST(TargetRules, ALauncherOfWorkersOnOtherGpusStays) {
    Scene scene(4);
    scene.process(810, 1, "torchrun").holder(812, 0, 500, 810).holder(813, 3, 500, 810);
    for (const Pid pid : {812, 813}) scene.get(pid).session = 810;
    EXPECT_EQ(told(choose(on_gpus({"0"}) & tree(), scene.evidence(), {})),
              "812: holding gpu on GPU 0\n"
              "810 other-gpu: its descendant 813 uses GPU 3\n");
    EXPECT_EQ(told(choose(on_gpus({"0", "3"}) & tree(), scene.evidence(), {})),
              "810: launcher of 812\n"
              "812: holding gpu on GPU 0\n"
              "813: holding gpu on GPU 3\n");
}

TEST(TargetRules, DescendantsGoWithTheirsParentsFirstUnlessTheyAreAnothers) {
    Scene scene(4);
    scene.process(810, 1, "serve").process(811, 810, "a").process(812, 811, "b").process(813, 810, "c");
    scene.get(813).uid = 1001;
    scene.get(813).user = "bob";
    scene.process(814, 813, "d");
    EXPECT_EQ(told(choose(name("^serve$") & of_user("alice") & descendants(), scene.evidence(), {})),
              "810: name '^serve$' and user alice\n"
              "811: descendant of 810\n"
              "812: descendant of 810\n"
              "814: descendant of 810\n");
    EXPECT_EQ(told(choose(name("^serve$"), scene.evidence(), {})), "810: name '^serve$'\n");
}

TEST(TargetRules, WhatASparedDescendantHasStartedStaysWithIt) {
    Scene scene(4);
    scene.process(810, 1, "serve").process(811, 810, "sshd").process(812, 811, "bash");
    scene.get(811).exe = "/usr/sbin/sshd";
    scene.process(813, 810, "job").in_cgroup(813, "/slurm/uid_1000/job_42/step_0").process(814, 813, "x");
    EXPECT_EQ(told(choose(name("^serve$") & descendants(), scene.evidence(), {})),
              "810: name '^serve$'\n"
              "811 protected: protected (built-in: sshd)\n"
              "813 scheduled-job: in slurm job 42 of alice; --include-jobs would include it\n");
}

TEST(TargetRules, ADescendantThatUsesAnothersGpuStays) {
    Scene scene(4);
    scene.holder(810, 0, 500).process(811, 810, "sh").holder(812, 3, 500, 811).process(813, 810, "log");
    EXPECT_EQ(told(choose(on_gpus({"0"}) & descendants(), scene.evidence(), {})),
              "810: holding gpu on GPU 0\n"
              "813: descendant of 810\n"
              "811 other-gpu: its descendant 812 uses GPU 3\n");
}

TEST(TargetRules, WithoutASchedulerNobodyIsTaken) {
    Scene scene(1);
    scene.holder(812, 0, 500);
    ChoicePolicy policy;
    policy.needs_scheduler = true;
    EXPECT_TRUE(told(choose(holding_gpu(), scene.evidence(), policy)).starts_with("812 no-scheduler: "));
    scene.process(700, 1, "slurmd");  // alice's own
    EXPECT_TRUE(choose(holding_gpu(), scene.evidence(), policy).targets.empty());
    scene.daemon(701, "/usr/sbin/slurmd");
    EXPECT_TRUE(told(choose(holding_gpu(), scene.evidence(), policy)).starts_with("812: holding gpu\n"));
}

TEST(TargetRules, ADaemonsNameTakenByAUserSparesNobody) {
    Scene scene(1);
    scene.holder(812, 0, 500, 1, "nvidia-persiste");
    scene.get(812).exe = "/home/alice/nvidia-persistenced";
    scene.get(812).exe_owner = 1000;
    scene.get(812).argv = {"/usr/bin/nvidia-persistenced\nend 4711 1\x1b[2J"};
    EXPECT_EQ(told(choose(holding_gpu(), scene.evidence(), {})), "812: holding gpu\n");
}

TEST(TargetRules, TheOneThatMovedElsewhereIsStillTheOneThatWasAgreedTo) {
    Scene scene(1);
    scene.holder(812, 0, 500).evidence().sessions.emplace();
    const auto consent = consent_for(choose(orphaned(), scene.evidence(), {}), scene.evidence());
    scene.in_cgroup(812, "/user.slice/user-1000.slice/user@1000.service/slurm/job_42");
    scene.get(812).session = 900;
    ChoicePolicy policy;
    policy.consent = &consent;
    EXPECT_EQ(told(choose(holding_gpu(), scene.evidence(), policy)), "812: holding gpu\n");
}

TEST(TargetRules, AnOrphanIsTakenWithTheReason) {
    Scene scene(1);
    scene.holder(812, 0, 500).evidence().sessions.emplace();
    EXPECT_EQ(told(choose(holding_gpu() & orphaned(), scene.evidence(), {})),
              "812: holding gpu and orphaned: its parent is init, session 3 is not known to logind\n");
}

}  // namespace
}  // namespace cleanslate::agentless
