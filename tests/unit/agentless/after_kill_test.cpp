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

TEST(Survived, InUninterruptibleSleepWithItsMemoryIsUnkillable) {
    const auto findings = survived(Scene(1).holder(812, 0, 500), Scene(1).holder(812, 0, 500).state(812, 'D'),
                                   "KILL", SignalResult::alive);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "unkillable");
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

}  // namespace
}  // namespace cleanslate::agentless
