// The driver's list, the open device files and the used memory, where they disagree.

#include "agentless/witnesses.hpp"

#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::codes;
using testing::find;
using testing::judge;
using testing::Scene;

std::string text_of(const GpuVerdict& gpu, std::string_view code) {
    const auto* found = find(gpu.findings, code);
    return found == nullptr ? "none" : found->text;
}

void close_all(Process& process) {
    process.open_minors.clear();
    process.mapped_minors.clear();
    process.opens_control = process.maps_control = false;
}

TEST(Ghost, IsNamedAsTheDriverListsIt) {
    Scene scene(8);
    scene.ghost(1182, 2, 76107);
    const auto host = judge(scene);
    EXPECT_EQ(text_of(host.gpus[2], "ghost"),
              "the driver lists pid 1182 ([Not Found], 76107 MiB), which no longer lives");
    EXPECT_EQ(
        text_of(host.gpus[2], "memory-without-holder"),
        "76107 MiB are used, the driver lists pid 1182 ([Not Found], 76107 MiB), and no process was seen "
        "with the device open");
}

TEST(Ghost, IsSaidWithWhoMayKeepItsMemory) {
    Scene scene(8);
    scene.ghost(1182, 2, 76107).process(1190, 1, "sleep").daemon(90, "/usr/bin/nvidia-persistenced");
    scene.get(1190).open_minors = {2};
    scene.get(1190).argv = {"sleep", "1000", "--token", "sesame"};
    const auto text = text_of(judge(scene).gpus[2], "ghost");
    EXPECT_TRUE(
        text.ends_with("which no longer lives; its memory may be kept by pid 1190 (sleep 1000 --token "
                       "***)"))
        << text;
    close_all(scene.get(1190));
    EXPECT_TRUE(text_of(judge(scene).gpus[2], "ghost")
                    .ends_with("kept by pid 90 (/usr/bin/nvidia-persistenced serve.py, protected)"));
}

TEST(Zombie, IsSaidWithWhatItsParentRunsIn) {
    Scene scene(1);
    scene.process(1300, 1, "launcher").holder(1361, 0, 500, 1300).state(1361, 'Z');
    scene.in_cgroup(1300, "/system.slice/model-server.service");
    close_all(scene.get(1361));
    const auto gpu = judge(scene).gpus[0];
    EXPECT_TRUE(
        text_of(gpu, "zombie-holder").ends_with("its parent, pid 1300 (launcher) in model-server.service"));
    EXPECT_EQ(
        find(gpu.findings, "zombie-holder")->remedy,
        "end its parent, or stop what that runs in: `systemctl stop model-server.service`; else reboot");
}

TEST(Holder, InUninterruptibleSleepIsNotedBeforeAnySignal) {
    Scene scene(1);
    scene.holder(812, 0, 500);
    EXPECT_EQ(text_of(judge(scene).gpus[0], "holder-uninterruptible"), "none");
    scene.state(812, 'D');
    EXPECT_EQ(text_of(judge(scene).gpus[0], "holder-uninterruptible"),
              "pid 812 (python3.11) is in uninterruptible sleep (D); what it waits for is not known");
    scene.daemon(90, "/usr/bin/nvidia-persistenced").listed(90, 0, 5).state(90, 'D').state(812, 'S');
    EXPECT_EQ(text_of(judge(scene).gpus[0], "holder-uninterruptible"), "none");
}

TEST(ForeignHolder, IsNamedAsTheDriverListsIt) {
    Scene scene(1);
    scene.listed(70, 0, 500).used(0, 500);
    scene.evidence().proc_hides_others = true;
    EXPECT_EQ(text_of(judge(scene).gpus[0], "foreign-holder"),
              "the driver lists pid 70 (/usr/bin/python3.11, 500 MiB), which is no process of this /proc");
}

TEST(Zombie, ThatTheDriverListsIsDirtyAndItsParentIsNamed) {
    Scene scene(1);
    scene.process(1300, 1, "launcher").holder(1361, 0, 500, 1300).state(1361, 'Z');
    close_all(scene.get(1361));
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.gpus[0].findings), "memory-in-use:dirty zombie-holder:dirty");
    EXPECT_EQ(
        text_of(host.gpus[0], "zombie-holder"),
        "the driver lists pid 1361 (/usr/bin/python3.11, 500 MiB), which has ended and was not reaped by "
        "its parent, pid 1300 (launcher)");
}

TEST(Zombie, OfAProtectedProgramExcusesNoMemory) {
    Scene scene(1);
    scene.daemon(90, "/usr/bin/nvidia-persistenced").listed(90, 0, 500, "nvidia-persistenced").used(0, 500);
    EXPECT_EQ(judge(scene).verdict, Verdict::clean);
    scene.state(90, 'Z');
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.gpus[0].findings), "memory-in-use:dirty zombie-holder:dirty");
}

// Seen with a device node made by mknod under another name: the process computes, and shows no /dev/nvidia*.
TEST(HolderWithoutDevice, IsNotCalledDeadAndNotClean) {
    Scene scene(1);
    scene.process(812, 1, "python3").listed(812, 0, 50).used(0, 50);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    ASSERT_EQ(codes(host.gpus[0].findings), "holder-without-device:dirty");
    ASSERT_EQ(host.gpus[0].holders.size(), 1u);
    const auto& holder = host.gpus[0].holders[0];
    EXPECT_FALSE(holder.ghost);
    EXPECT_FALSE(holder.foreign_pid);
    EXPECT_TRUE(holder.without_device);
    EXPECT_EQ(holder.key.start, 8120u);
    EXPECT_EQ(
        text_of(host.gpus[0], "holder-without-device"),
        "the driver lists pid 812 (/usr/bin/python3.11, 50 MiB), which lives and has no device file open "
        "under a name known here");
}

TEST(HolderWithoutDevice, OfAProtectedProgramExcusesNoMemory) {
    Scene scene(1);
    scene.daemon(90, "/usr/bin/nvidia-persistenced").listed(90, 0, 500, "nvidia-persistenced").used(0, 500);
    close_all(scene.get(90));
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.gpus[0].findings), "memory-in-use:dirty holder-without-device:dirty");
}

TEST(HolderWithoutDevice, LeavesOthersWithTheDeviceOpenToBeOpeners) {
    Scene scene(1);
    scene.process(812, 1, "python3").listed(812, 0, 500).used(0, 500).opener(900);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    ASSERT_EQ(host.openers.size(), 1u);
    EXPECT_EQ(host.openers[0].key.pid, 900);
}

TEST(Memory, WithoutAListedHolderNamesWhoHasTheDeviceOpen) {
    Scene scene(2);
    scene.used(1, 76107).opener(843);
    EXPECT_EQ(text_of(judge(scene).gpus[1], "memory-without-holder"),
              "76107 MiB are used, the driver lists nobody, and the device is open in pid 843 (python3.11)");
}

TEST(Memory, FarAboveWhatTheHoldersHaveIsNamed) {
    Scene scene(1);
    scene.holder(812, 0, 500).used(0, 64);
    EXPECT_EQ(codes(judge(scene).gpus[0].findings), "memory-in-use:dirty held:dirty");
    scene.used(0, 1);
    const auto host = judge(scene);
    EXPECT_EQ(codes(host.gpus[0].findings), "memory-in-use:dirty held:dirty memory-unexplained:note");
    EXPECT_EQ(
        text_of(host.gpus[0], "memory-unexplained"),
        "565 MiB are used, 500 MiB of it by all that the driver lists: pid 812 (/usr/bin/python3.11, 500 "
        "MiB)");
}

TEST(Memory, OfAHolderWhoseShareIsNotShownIsNotCalledUnexplained) {
    Scene scene(1);
    scene.holder(812, 0, 500).holder(813, 0, 0).used(0, 10000);
    scene.evidence().apps[1].used.reset();
    EXPECT_EQ(find(judge(scene).gpus[0].findings, "memory-unexplained"), nullptr);
}

TEST(Memory, ThatAnOldDriverReservesIsNotCalledUnexplained) {
    Scene scene(1);
    scene.evidence().driver_version = "470.57.02";
    scene.holder(812, 0, 500).used(0, 308);
    EXPECT_EQ(find(judge(scene).gpus[0].findings, "memory-unexplained"), nullptr);
}

TEST(Memory, ThatAnIdleGpuOfInstancesShowsIsNotCalledUnexplained) {
    auto scene = Scene(1).holder(70, 0, 500).used(0, 59 + 20);
    EXPECT_NE(find(judge(scene).gpus[0].findings, "memory-unexplained"), nullptr);
    scene.evidence().gpus[0].optional = {{"mig.mode.current", "Enabled"}};
    EXPECT_EQ(find(judge(scene).gpus[0].findings, "memory-unexplained"), nullptr);
}

TEST(Memory, BelowWhatTheHoldersHaveIsANote) {
    Scene scene(1);
    scene.daemon(90, "/usr/bin/nvidia-persistenced").listed(90, 0, 300, "nvidia-persistenced").used(0, 299);
    EXPECT_EQ(codes(judge(scene).gpus[0].findings), "protected-memory:note");  // each is rounded
    scene.used(0, -299);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.gpus[0].findings), "holder-without-memory:note");
}

TEST(Graphics, OfAProtectedDesktopIsNamedInPlaceOfMemoryWithoutHolder) {
    Scene scene(2);
    scene.daemon(700, "/usr/lib/xorg/Xorg").used(1, 900);
    scene.get(700).open_minors = scene.get(700).mapped_minors = {1};
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.gpus[1].findings), "memory-in-use:dirty graphics-memory:dirty");
    EXPECT_EQ(text_of(host.gpus[1], "graphics-memory"),
              "900 MiB are used, the driver lists nobody, and the GPU is mapped by pid 700 (Xorg)");
    EXPECT_EQ(host.gpus[0].verdict, Verdict::clean);
}

TEST(Graphics, AreNotWhoOnlyHasTheDeviceOpenOrIsNotProtected) {
    Scene monitor(1);
    monitor.daemon(90, "/usr/bin/nvidia-persistenced").used(0, 900);
    monitor.get(90).mapped_minors.clear();
    EXPECT_EQ(codes(judge(monitor).gpus[0].findings), "memory-in-use:dirty memory-without-holder:dirty");
    Scene stranger(1);
    stranger.opener(843).used(0, 900);
    EXPECT_EQ(codes(judge(stranger).gpus[0].findings), "memory-in-use:dirty memory-without-holder:dirty");
    Scene unmapped(1);  // /dev/nvidiaN of which it is not known which GPU it is
    unmapped.daemon(700, "/usr/lib/xorg/Xorg").used(0, 900);
    unmapped.evidence().driver_gpus.reset();
    EXPECT_EQ(codes(judge(unmapped).gpus[0].findings), "memory-in-use:dirty memory-without-holder:dirty");
    EXPECT_NE(text_of(judge(unmapped).gpus[0], "memory-without-holder").find("is not known"),
              std::string::npos);
}

TEST(MpsServer, IsExcusedAContextOfItsOwnAndNotWhatClientsLeftWithIt) {
    Scene scene(1);
    scene.daemon(88, "/usr/bin/nvidia-cuda-mps-server").listed(88, 0, 76000, "nvidia-cuda-mps-server");
    scene.used(0, 76020);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(text_of(host.gpus[0], "memory-in-use"),
              "76020 MiB used, 1024 MiB of it by protected holders, the limit is 100 MiB");
    EXPECT_NE(find(host.gpus[0].findings, "mps-server"), nullptr);
}

TEST(Protected, HoldersMemoryAboveTheLimitIsNamed) {
    Scene scene(1);
    scene.daemon(88, "/usr/bin/dcgm-exporter").listed(88, 0, 20000, "dcgm-exporter").used(0, 20009);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(text_of(host.gpus[0], "protected-memory"),
              "20009 MiB used, 20000 MiB of it by pid 88 (dcgm-exporter)");
}

TEST(MpsServer, HasClientsThatKeepTheHostDirtyAsOpeners) {
    Scene scene(1);
    scene.daemon(88, "/usr/bin/nvidia-cuda-mps-server").listed(88, 0, 1000, "nvidia-cuda-mps-server");
    scene.used(0, 1020);
    auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.gpus[0].findings), "protected-memory:note mps-server:note");
    scene.opener(900);
    host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.findings), "opener:dirty");
}

TEST(HolderWithoutPid, IsUnknownAndNotMemoryWithoutHolder) {
    Scene scene(1);
    scene.evidence().apps.push_back({std::nullopt, testing::uuid_of(0), Mebibytes{500}, "[N/A]"});
    scene.used(0, 500);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_EQ(codes(host.gpus[0].findings), "memory-in-use:dirty holder-without-pid:unknown");
    EXPECT_EQ(text_of(host.gpus[0], "holder-without-pid"),
              "the driver lists a holder without its pid, with 500 MiB");
}

TEST(NamesOfTheDriver, ComeOutPrintable) {
    Scene scene(1);
    scene.listed(1182, 0, 500, "a\x1b[2Jb\nc").used(0, 500);
    const auto text = text_of(judge(scene).gpus[0], "ghost");
    for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << text;
}

}  // namespace
}  // namespace cleanslate::agentless
