// What there is to say after a kill: who came back, and who could not be killed.

#include "agentless/after_kill.hpp"

#include <gtest/gtest.h>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

constexpr ProcessKey old_one{812, 8120};

std::vector<Finding> came_back(Scene before, Scene after) {
    return findings_of_respawns(before.evidence(), after.evidence(), judge(after.evidence(), {}), {old_one});
}

std::vector<Finding> survived(Scene before, Scene after, const std::string& signal, SignalResult result) {
    HostOutcome outcome;
    SignalAction action;
    action.step = 1;
    action.signal = signal;
    action.process.key = old_one;
    action.result = result;
    outcome.signals.push_back(action);
    return findings_of_survivors(before.evidence(), after.evidence(), outcome);
}

TEST(CameBack, UnderItsUnitWhoseStopCommandIsTheRemedy) {
    const std::string unit = "/system.slice/model-server.service";
    const auto findings = came_back(Scene(1).holder(812, 0, 500).in_cgroup(812, unit),
                                    Scene(1).holder(990, 0, 500).in_cgroup(990, unit));
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "respawned");
    EXPECT_NE(findings[0].text.find("model-server.service"), std::string::npos);
    EXPECT_NE(findings[0].remedy.find("systemctl stop model-server.service"), std::string::npos);
}

TEST(CameBack, UnderItsLivingParent) {
    const auto findings = came_back(Scene(1).process(700, 1, "torchrun").holder(812, 0, 500, 700),
                                    Scene(1).process(700, 1, "torchrun").holder(990, 0, 500, 700));
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "respawned");
    EXPECT_NE(findings[0].text.find("pid 700 (torchrun)"), std::string::npos) << findings[0].text;
}

TEST(CameBack, IsNotSaidOfAnotherUsersNewProcess) {
    Scene after = Scene(1).holder(990, 0, 500);
    after.get(990).uid = 1001;
    const auto findings = came_back(Scene(1).holder(812, 0, 500), after);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "new-holder");
}

TEST(CameBack, IsNotSaidOfWhoWasThereBeforeOrIsProtected) {
    const auto there = Scene(1).holder(812, 0, 500).holder(813, 0, 500);
    EXPECT_TRUE(came_back(there, Scene(1).holder(813, 0, 500)).empty());
}

TEST(CameBack, IsSaidOnceForEachOrigin) {
    Scene after(1);
    after.process(700, 1, "torchrun");
    for (Pid pid = 990; pid < 995; ++pid) after.holder(pid, 0, 500, 700);
    const auto findings = came_back(Scene(1).process(700, 1, "torchrun").holder(812, 0, 500, 700), after);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(
        findings[0].text,
        "pid 990 (python3) and 4 more came back after pid 812 was ended: started again by its parent pid "
        "700 (torchrun)");
}

TEST(CameBack, IsSaidOfAFewOnlyWhereTheyRefillFasterThanTheyAreEnded) {
    Scene after(1);
    for (Pid pid = 1000; pid < 2000; ++pid) after.opener(pid, pid - 1);
    const auto findings = came_back(Scene(1).holder(812, 0, 500), after);
    ASSERT_EQ(findings.size(), 11u);
    EXPECT_EQ(findings[9].code, "respawned");
    EXPECT_EQ(findings[10].code, "respawned");
    EXPECT_EQ(findings[10].severity, Severity::dirty);
    EXPECT_EQ(findings[10].text, "and 990 more: they are started faster than they are ended");
}

TEST(Survived, InUninterruptibleSleepWithItsMemoryIsUnkillable) {
    const auto findings = survived(Scene(1).holder(812, 0, 500), Scene(1).holder(812, 0, 500).state(812, 'D'),
                                   "KILL", SignalResult::alive);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "unkillable");
    EXPECT_TRUE(findings[0].text.ends_with("; what it waits for is not known")) << findings[0].text;
}

TEST(Survived, InUninterruptibleSleepWithMemoryGoingDownIsASlowTeardown) {
    const auto findings = survived(Scene(1).holder(812, 0, 500), Scene(1).holder(812, 0, 400).state(812, 'D'),
                                   "KILL", SignalResult::alive);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "slow-teardown");
}

TEST(Survived, AsAZombieIsNamedWithTheParentThatDoesNotReapIt) {
    const auto findings =
        survived(Scene(1).process(700, 1, "launcher").holder(812, 0, 500, 700),
                 Scene(1).process(700, 1, "launcher").process(812, 700, "python3").state(812, 'Z'), "KILL",
                 SignalResult::zombie);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "zombie");
    EXPECT_NE(findings[0].text.find("pid 700 (launcher)"), std::string::npos) << findings[0].text;
}

TEST(Survived, AsAZombieSaysWhatItsParentRunsIn) {
    const auto after = Scene(1)
                           .process(700, 1, "launcher")
                           .in_cgroup(700, "/system.slice/model-server.service")
                           .process(812, 700, "python3")
                           .state(812, 'Z');
    const auto findings = survived(Scene(1).process(700, 1, "launcher").holder(812, 0, 500, 700), after,
                                   "KILL", SignalResult::zombie);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_NE(findings[0].text.find("pid 700 (launcher) in model-server.service"), std::string::npos)
        << findings[0].text;
    EXPECT_NE(findings[0].remedy.find("`systemctl stop model-server.service`"), std::string::npos);
}

TEST(Survived, NamesWhoTookOverItsMemory) {
    const auto findings = survived(Scene(1).holder(812, 0, 5000).holder(813, 0, 500),
                                   Scene(1).holder(813, 0, 5400), "KILL", SignalResult::ended);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "ipc-consumer");
}

TEST(Survived, IsNotSaidOfAnotherProcessWithTheSamePid) {
    Scene after = Scene(1).holder(812, 0, 500).state(812, 'D');
    after.get(812).key.start = 1;
    EXPECT_TRUE(survived(Scene(1).holder(812, 0, 500), after, "KILL", SignalResult::ended).empty());
}

TEST(Survived, ATermThatIsIgnoredIsNoFindingOfItsOwn) {
    const auto same = Scene(1).holder(812, 0, 500);
    EXPECT_TRUE(survived(same, same, "TERM", SignalResult::alive).empty());
    EXPECT_EQ(survived(same, same, "KILL", SignalResult::alive).at(0).code, "survived-kill");
    EXPECT_EQ(survived(same, same, "TERM", SignalResult::not_permitted).at(0).code, "not-permitted");
}

std::vector<Finding> launchers_left(Scene before, const std::set<ProcessKey>& signalled) {
    return findings_of_launchers(before.evidence(), signalled);
}

TEST(LaunchersLeft, AreNamedWithOneWhomTheyStarted) {
    const auto tree = Scene(1).process(700, 1, "launch").holder(812, 0, 500, 700).holder(813, 0, 500, 700);
    const auto findings = launchers_left(tree, {{812, 8120}, {813, 8130}});
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "launcher-left");
    EXPECT_EQ(findings[0].severity, Severity::note);
    EXPECT_NE(findings[0].text.find("pid 700 (launch) started pid 812"), std::string::npos)
        << findings[0].text;
}

TEST(LaunchersLeft, AreNoneWhereTheyWereSignalledTooOrASupervisorIsKnown) {
    const auto tree = Scene(1).process(700, 1, "launch").holder(812, 0, 500, 700);
    EXPECT_TRUE(launchers_left(tree, {{812, 8120}, {700, 7000}}).empty());
    EXPECT_TRUE(launchers_left(Scene(1).holder(812, 0, 500), {{812, 8120}}).empty());
    auto unit = tree;
    unit.in_cgroup(812, "/system.slice/model-server.service");
    EXPECT_TRUE(launchers_left(unit, {{812, 8120}}).empty());
}

TEST(LaunchersLeft, AreFoldedWhereThereAreMany) {
    Scene scene(1);
    std::set<ProcessKey> signalled;
    for (Pid i = 0; i < 30; ++i) {
        scene.process(700 + i, 1, "launch").holder(1000 + i, 0, 10, 700 + i);
        signalled.insert({1000 + i, static_cast<std::uint64_t>(1000 + i) * 10});
    }
    const auto findings = launchers_left(scene, signalled);
    ASSERT_EQ(findings.size(), 10u);
    EXPECT_NE(findings.back().text.find("and 20 more launchers"), std::string::npos);
}

TEST(CameBack, InAUnitThatMustNotBeStoppedIsNotToBeStoppedAsAWhole) {
    const std::string unit = "/system.slice/model-server.service";
    const auto findings = findings_of_respawns(
        Scene(1).holder(812, 0, 500).in_cgroup(812, unit).evidence(),
        Scene(1).holder(990, 0, 500).in_cgroup(990, unit).evidence(),
        judge(Scene(1).holder(990, 0, 500).in_cgroup(990, unit).evidence(), {}), {old_one},
        {{"other.service", "x"}, {"model-server.service", "pid 70 (dcgm) runs in it: protected"}});
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_TRUE(
        findings[0].remedy.starts_with("not `systemctl stop model-server.service` as a whole: "
                                       "pid 70 (dcgm) runs in it: protected;"))
        << findings[0].remedy;
}

TEST(Survived, InUninterruptibleSleepAndListedNoMoreIsASlowTeardown) {
    auto after = Scene(1).process(812, 1, "python3").state(812, 'D');
    EXPECT_EQ(survived(Scene(1).holder(812, 0, 500), after, "KILL", SignalResult::alive).at(0).code,
              "slow-teardown");
    after.evidence().app_query.exit_status = 1;  // what is not listed is not known
    EXPECT_EQ(survived(Scene(1).holder(812, 0, 500), after, "KILL", SignalResult::alive).at(0).code,
              "unkillable");
}

}  // namespace
}  // namespace cleanslate::agentless
