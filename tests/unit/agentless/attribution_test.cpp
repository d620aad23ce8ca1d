// Who holds which GPU, as it was measured on two H200s (tests/corpus/h200/holders_two_gpus.txt).

#include "agentless/attribution.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;
using testing::uuid_of;

HostVerdict judge(Scene& scene) { return agentless::judge(scene.evidence(), {}); }

std::string codes(const std::vector<Finding>& findings) {
    std::string line;
    for (const auto& finding : findings) line += (line.empty() ? "" : " ") + finding.code;
    return line;
}

std::string pids(const std::vector<Holder>& holders) {
    std::string line;
    for (const auto& h : holders)
        line += fmt::format("{}{}{}{}{}{}", line.empty() ? "" : " ", h.key.pid, h.ghost ? " ghost" : "",
                            h.inherited ? " inherited" : "", h.foreign_pid ? " foreign" : "",
                            h.is_protected ? " protected" : "");
    return line;
}

// A root daemon on the protected list with every device file open.
void add_daemon(Scene& scene, Pid pid, const std::string& exe) {
    scene.opener(pid);
    auto& p = scene.get(pid);
    p.exe = exe;
    p.comm = exe.substr(exe.rfind('/') + 1).substr(0, 15);
    p.argv = std::vector<std::string>{exe};
    p.uid = 0;
    p.user = "root";
    p.cgroup = "/system.slice/daemon.service";
}

TEST(Holder, IsWhoTheDriverListsAndNotWhoHasTheFilesOpen) {
    Scene scene(8);
    scene.holder(575, 2, 2658);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(pids(host.gpus[i].holders), i == 2 ? "575" : "");
        EXPECT_EQ(host.gpus[i].verdict, i == 2 ? Verdict::dirty : Verdict::clean);
    }
    EXPECT_TRUE(host.openers.empty());
    const auto& holder = host.gpus[2].holders[0];
    EXPECT_EQ(holder.used, Mebibytes{2658});
    EXPECT_EQ(holder.user, "alice");
    EXPECT_EQ(holder.exe, "/usr/bin/python3.11");
    EXPECT_EQ(holder.key.start, 5750u);
    EXPECT_EQ(codes(host.gpus[2].findings), "memory-in-use held");
}

TEST(Holder, MakesItsGpuDirtyAtAnyMemory) {
    Scene scene(1);
    scene.holder(575, 0, 0);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.gpus[0].findings), "held");
}

TEST(Holder, ListedOnceForEachMigInstanceIsOne) {
    Scene scene(1);
    scene.holder(575, 0, 500);
    scene.evidence().apps.push_back({575, uuid_of(0), Mebibytes{300}, "python3"});
    const auto host = judge(scene);
    ASSERT_EQ(pids(host.gpus[0].holders), "575");
    EXPECT_EQ(host.gpus[0].holders[0].used, Mebibytes{800});
}

TEST(Holder, WithoutAPidIsUnknown) {
    Scene scene(1);
    scene.evidence().apps.push_back({std::nullopt, uuid_of(0), std::nullopt, "[N/A]"});
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_EQ(codes(host.gpus[0].findings), "holder-without-pid");
}

TEST(ProtectedHolder, MayHaveAllTheMemoryThatTheDriverSaysItHas) {
    Scene scene(2);
    add_daemon(scene, 90, "/usr/bin/nvidia-persistenced");
    scene.evidence().apps.push_back({90, uuid_of(1), Mebibytes{300}, "/usr/bin/nvidia-persistenced"});
    scene.used(1, 400);
    auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(pids(host.gpus[1].holders), "90 protected");
    scene.used(1, 1);
    host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.gpus[1].findings), "memory-in-use memory-without-holder");
}

TEST(ProtectedHolder, WhoseMemoryIsNotShownExcusesNone) {
    Scene scene(1);
    add_daemon(scene, 90, "/usr/bin/nvidia-persistenced");
    scene.evidence().apps.push_back({90, uuid_of(0), std::nullopt, "/usr/bin/nvidia-persistenced"});
    scene.used(0, 101);
    EXPECT_EQ(judge(scene).verdict, Verdict::dirty);
}

TEST(ProtectedGhost, ExcusesNothing) {
    Scene scene(1);
    scene.ghost(90, 0, 300);
    scene.evidence().apps.back().name = "/usr/bin/nvidia-persistenced";
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(pids(host.gpus[0].holders), "90 ghost");
}

TEST(Ghost, LivesOnInAChildThatInheritedItsDescriptors) {
    Scene scene(8);
    scene.ghost(1182, 2, 76107).opener(1190);
    auto& heir = scene.get(1190);
    heir.comm = "sleep";
    heir.exe = "/usr/bin/sleep";
    heir.mapped_minors.clear();
    heir.maps_control = false;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(pids(host.gpus[2].holders), "1182 ghost 1190 inherited");
    EXPECT_EQ(codes(host.gpus[2].findings), "memory-in-use held ghost");
    EXPECT_TRUE(host.openers.empty());
    EXPECT_EQ(host.gpus[3].verdict, Verdict::clean);
}

TEST(Ghost, IsHeldByWhoHasTheDeviceMinorOpenAndNotTheIndex) {
    Scene scene(8);
    for (std::size_t i = 0; i < 8; ++i) (*scene.evidence().driver_gpus)[i].minor = 7 - static_cast<int>(i);
    scene.ghost(1182, 2, 76107).opener(1190).opener(1191);
    scene.get(1190).open_minors = scene.get(1190).mapped_minors = {5};  // GPU 2
    scene.get(1191).open_minors = scene.get(1191).mapped_minors = {2};  // GPU 5
    const auto host = judge(scene);
    EXPECT_EQ(pids(host.gpus[2].holders), "1182 ghost 1190 inherited");
    EXPECT_EQ(pids(host.openers), "1191");
}

TEST(Ghost, WithoutAMapOfMinorsIsHeldByAnyoneWithAGpuOpen) {
    Scene scene(8);
    scene.ghost(1182, 2, 76107).opener(1190).opener(1191);
    scene.get(1190).open_minors = scene.get(1190).mapped_minors = {5};
    scene.get(1191).open_minors.clear();
    scene.get(1191).mapped_minors.clear();  // nvidiactl only
    scene.evidence().driver_gpus.reset();
    const auto host = judge(scene);
    EXPECT_EQ(pids(host.gpus[2].holders), "1182 ghost 1190 inherited");
    EXPECT_EQ(pids(host.openers), "1191");
}

TEST(Ghost, IsNeverHeldByWhoIsListedItself) {
    Scene scene(2);
    scene.ghost(1182, 0, 500).holder(1200, 1, 700);
    const auto host = judge(scene);
    EXPECT_EQ(pids(host.gpus[0].holders), "1182 ghost");
    EXPECT_EQ(codes(host.gpus[0].findings), "memory-in-use ghost memory-without-holder");
    EXPECT_EQ(pids(host.gpus[1].holders), "1200");
}

TEST(Ghost, WithoutAnyHeirIsDirtyEvenWithoutMemory) {
    Scene scene(1);
    scene.ghost(1182, 0, 0);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.gpus[0].findings), "ghost memory-without-holder");
}

TEST(Ghost, WithOnlyProtectedOnesAroundHasNoHolder) {
    Scene scene(1);
    add_daemon(scene, 90, "/usr/bin/nvidia-persistenced");
    scene.ghost(1182, 0, 500);
    const auto host = judge(scene);
    EXPECT_EQ(pids(host.gpus[0].holders), "1182 ghost 90 inherited protected");
    EXPECT_EQ(codes(host.gpus[0].findings), "memory-in-use ghost memory-without-holder");
}

TEST(Ghost, WhosePidWasTakenAgainIsNotTheNewProcess) {
    Scene scene(1);
    scene.ghost(1182, 0, 500).process(1182, 1, "bystander");
    const auto host = judge(scene);
    EXPECT_EQ(pids(host.gpus[0].holders), "1182 ghost");
    EXPECT_EQ(host.gpus[0].holders[0].key.start, 0u);
    EXPECT_EQ(host.gpus[0].holders[0].exe, std::nullopt);
}

TEST(Ghost, IsAPidThatIsNotThereWhateverTheDriverCallsIt) {
    Scene scene(1);
    scene.ghost(1182, 0, 500);
    scene.evidence().apps.back().name = "python3";
    EXPECT_EQ(pids(judge(scene).gpus[0].holders), "1182 ghost");
}

TEST(Zombie, ThatIsStillListedHasHeirsToo) {
    Scene scene(1);
    scene.holder(1361, 0, 500).state(1361, 'Z').opener(1400);
    scene.get(1361).open_minors.clear();
    scene.get(1361).mapped_minors.clear();
    scene.get(1361).opens_control = scene.get(1361).maps_control = false;
    const auto host = judge(scene);
    EXPECT_EQ(pids(host.gpus[0].holders), "1361 1400 inherited");
    EXPECT_EQ(host.gpus[0].holders[0].state, 'Z');
}

TEST(ForeignPid, IsNoProcessOfThisHostAndNoTarget) {
    Scene scene(1);
    scene.ghost(70, 0, 500).process(70, 1, "bystander");
    scene.evidence().proc_hides_others = true;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(pids(host.gpus[0].holders), "70 foreign");
    EXPECT_EQ(codes(host.gpus[0].findings), "memory-in-use foreign-holder");
}

TEST(Memory, WithoutAnyHolderIsDirtyAndSaysSo) {
    Scene scene(2);
    scene.used(1, 76107);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.gpus[1].findings), "memory-in-use memory-without-holder");
}

TEST(Opener, MakesTheHostDirtyAndNoGpu) {
    Scene scene(2);
    scene.opener(843);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.findings), "opener");
    EXPECT_EQ(pids(host.openers), "843");
    EXPECT_EQ(host.gpus[0].verdict, Verdict::clean);
}

TEST(Opener, ThatIsProtectedIsListedOnly) {
    Scene scene(2);
    add_daemon(scene, 90, "/usr/bin/nvidia-persistenced");
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(pids(host.openers), "90 protected");
}

TEST(Opener, ThatMapsNvidiactlOnlyIsOne) {
    Scene scene(1);
    scene.process(843, 1, "python3");
    scene.get(843).maps_control = true;
    EXPECT_EQ(judge(scene).verdict, Verdict::dirty);
}

TEST(Uuid, OfASickGpuIsFoundByElimination) {
    Scene scene(3);
    scene.holder(575, 1, 500);
    auto& row = scene.evidence().gpus[1];
    row = GpuRow{};
    row.cells.assign(8, "[GPU is lost]");
    scene.evidence().driver_gpus.reset();
    const auto host = judge(scene);
    EXPECT_EQ(pids(host.gpus[1].holders), "575");
    EXPECT_EQ(host.verdict, Verdict::sick);
}

// Two rows of failure texts: neither says which uuid is its own.
TEST(Uuid, ThatOneRowHasIsThatRowsWhateverOthersDoNotSay) {
    for (const std::size_t failed : {1u, 2u}) {
        Scene scene(4);
        for (std::size_t i = 0; i < failed; ++i) {
            scene.evidence().gpus[i] = GpuRow{};
            scene.evidence().gpus[i].cells.assign(8, "[GPU is lost]");
        }
        scene.holder(575, 3, 500);
        scene.evidence().driver_gpus.reset();
        add_daemon(scene, 90, "/usr/bin/nvidia-persistenced");
        scene.listed(90, 2, 400).used(2, 400);
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::sick);
        EXPECT_EQ(pids(host.gpus[0].holders), "");
        EXPECT_EQ(pids(host.gpus[2].holders), "90 protected");
        EXPECT_EQ(host.gpus[2].verdict, Verdict::clean);
        EXPECT_EQ(pids(host.gpus[3].holders), "575");
    }
}

TEST(Ghost, WhosePidAProtectedDaemonHasNowExcusesNoMemory) {
    Scene scene(2);
    scene.ghost(90, 1, 76107);
    add_daemon(scene, 90, "/usr/bin/nvidia-persistenced");
    EXPECT_EQ(judge(scene).verdict, Verdict::dirty);
    EXPECT_EQ(pids(judge(scene).gpus[1].holders), "90 ghost 90 inherited protected");
    EXPECT_EQ(codes(judge(scene).gpus[1].findings), "memory-in-use ghost memory-without-holder");
    scene.evidence().apps.back().name = "/usr/bin/nvidia-persistenced";
    EXPECT_EQ(judge(scene).verdict, Verdict::clean);
}

}  // namespace
}  // namespace cleanslate::agentless
