// Who could be looked at, and who hangs.

#include "agentless/sight.hpp"

#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::codes;
using testing::find;
using testing::judge;
using testing::Scene;

TEST(Sight, WithoutRootIsEnoughForACleanHostWithANote) {
    Scene scene(8);
    scene.evidence().root = false;
    scene.evidence().holders_visible = false;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "holders-not-visible:note");
    Expectations strict;
    strict.require_holders = true;
    EXPECT_EQ(agentless::judge(scene.evidence(), strict).verdict, Verdict::unknown);
}

TEST(Sight, WithoutRootSeesADirtyHostAsDirty) {
    Scene scene(8);
    scene.holder(812, 2, 76107);
    scene.evidence().root = false;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(find(host.findings, "holders-not-visible")->severity, Severity::note);
}

TEST(Sight, WithoutRootIsNotEnoughWhereTheDriverListsAnybody) {
    Scene scene(8);
    scene.holder(812, 2, 50);
    scene.evidence().root = false;
    Expectations rules;
    rules.protection.protect = {"python3.11"};
    const auto host = agentless::judge(scene.evidence(), rules);
    ASSERT_EQ(host.gpus[2].holders.size(), 1u);
    ASSERT_TRUE(host.gpus[2].holders[0].is_protected);
    EXPECT_EQ(host.verdict, Verdict::unknown);
}

// Seen on a machine whose pid 1 had confined every login.
TEST(Sight, OfRootThatIsRefusedAProcessIsEnoughWhereTheDriverListsNobodyElse) {
    Scene scene(8);
    scene.evidence().holders_visible = false;
    scene.evidence().unreadable = 1;
    scene.get(1).maps_readable = false;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "holders-unreadable:note");
    EXPECT_NE(host.findings[0].text.find("pid 1 (systemd)"), std::string::npos) << host.findings[0].text;
    Expectations strict;
    strict.require_holders = true;
    EXPECT_EQ(agentless::judge(scene.evidence(), strict).verdict, Verdict::unknown);
}

TEST(Sight, OfRootThatIsRefusedAListedProcessIsNotEnough) {
    Scene scene(8);
    scene.holder(812, 2, 50);
    scene.evidence().holders_visible = false;
    scene.evidence().unreadable = 1;
    scene.get(812).maps_readable = false;
    Expectations rules;
    rules.protection.protect = {"python3.11"};
    EXPECT_EQ(agentless::judge(scene.evidence(), rules).verdict, Verdict::unknown);
}

TEST(Sight, OfAProcessThatNeverAnsweredProvesNothing) {
    Scene scene(8);
    scene.evidence().holders_visible = false;
    scene.evidence().unreadable = 1;
    scene.evidence().cuts = {"maps of pid 812"};
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
}

TEST(Sight, OfAContainersOwnProcIsNamed) {
    Scene scene(8);
    scene.evidence().proc_hides_others = true;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "holders-not-visible:note proc-hidden:note");
}

// A read that hangs now, and readers that earlier looks have left.
TEST(HungRead, IsADriverThatHangsAndNamesWhatHangsAndWhoHangsThere) {
    Scene scene(8);
    scene.opener(812);
    scene.get(812).wedged = true;
    scene.get(812).maps_readable = false;
    scene.evidence().stuck_reads = {{812, "maps", 0}, {812, "cmdline", 4001}, {812, "maps", 4000}};
    scene.evidence().holders_visible = false;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    ASSERT_EQ(codes(host.findings), "opener:dirty driver-hung:unknown");
    EXPECT_EQ(host.findings[1].text,
              "reading cmdline, maps of pid 812 (python3) does not come back; an earlier look still hangs "
              "there: pid 4000, 4001");
}

TEST(HungRead, IsUnknownHoweverMuchElseWasSeen) {
    Scene wedged(2);
    wedged.get(500).wedged = true;
    EXPECT_EQ(judge(wedged).verdict, Verdict::unknown);
    Scene stuck(2);
    stuck.evidence().stuck_reads = {{4711, "maps", 0}};
    EXPECT_EQ(judge(stuck).verdict, Verdict::unknown);
    stuck.evidence().root = false;
    EXPECT_EQ(judge(stuck).verdict, Verdict::unknown);
    stuck.evidence().proc_hides_others = true;
    EXPECT_EQ(judge(stuck).verdict, Verdict::unknown);
}

TEST(HungRead, IsNotSaidAgainAsACut) {
    Scene scene(2);
    scene.evidence().holders_visible = false;
    scene.evidence().stuck_reads = {{4711, "maps", 0}};
    scene.evidence().cuts = {"maps of 4711"};
    EXPECT_EQ(codes(judge(scene).findings), "driver-hung:unknown");
    scene.evidence().cuts.emplace_back("argv");
    const auto host = judge(scene);
    ASSERT_EQ(codes(host.findings), "driver-hung:unknown holders-unreadable:unknown");
    EXPECT_EQ(host.findings[1].text, "no answer within the survey's time: argv");
}

TEST(StuckNvidiaSmi, IsNamedWithItsAgeAndParent) {
    Scene scene(2);
    scene.process(3999, 1, "exporter.sh").process(4000, 3999, "nvidia-smi").state(4000, 'D');
    scene.get(4000).age_s = 310;
    scene.evidence().stuck = {4000, 4711};
    scene.evidence().gpu_query = {std::nullopt, true, false};
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_EQ(find(host.findings, "driver-hung")->text,
              "the GPU query of nvidia-smi was not asked; nvidia-smi hangs in the kernel: pid "
              "4000 (for 310 s, started by pid 3999 (exporter.sh)), pid 4711");
}

TEST(SlowNvidiaSmi, IsNamedWithTheTimeThatItWasGiven) {
    Scene scene(2);
    scene.evidence().gpu_query = {std::nullopt, true};
    scene.evidence().gpu_query.took = Milliseconds{2'000};
    EXPECT_EQ(find(judge(scene).findings, "driver-hung")->text,
              "the GPU query of nvidia-smi did not end within 2.0 s");
}

TEST(StuckNvidiaSmi, BesideQueriesThatEndedIsADriverThatHangs) {
    Scene scene(2);
    scene.evidence().stuck = {4711};
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_EQ(codes(host.findings), "driver-hung:unknown");
}

}  // namespace
}  // namespace cleanslate::agentless
