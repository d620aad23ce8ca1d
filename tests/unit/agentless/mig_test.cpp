// MIG instances below their GPU, and who uses which.

#include "agentless/mig.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::codes;
using testing::judge;
using testing::Scene;
using testing::uuid_of;

// "0 1g.18gb 7/0: 812; ? 9/0:"
std::string line(const std::vector<MigInstance>& instances) {
    std::string text;
    for (const auto& instance : instances) {
        text += text.empty() ? "" : "; ";
        text += instance.device ? fmt::format("{} {}", *instance.device, instance.profile) : "?";
        if (instance.gpu_instance)
            text += fmt::format(" {}/{}", *instance.gpu_instance, instance.compute_instance.value_or(-1));
        text += ":";
        for (const auto& key : instance.holders) text += fmt::format(" {}", key.pid);
    }
    return text;
}

// A GPU of which `-L` lists these devices, and the kernel has (gi, 0) of each, with caps 10 * gi and
// 10 * gi + 1.
Scene mig_scene(const std::vector<std::string>& uuids, const std::vector<int>& gpu_instances, int gpu = 0) {
    Scene scene(2);
    scene.everywhere();
    int device = 0;
    for (const auto& uuid : uuids)
        (*scene.evidence().listed)[static_cast<std::size_t>(gpu)].instances.push_back(
            {device++, "1g.18gb", uuid});
    for (const int gi : gpu_instances) {
        scene.evidence().mig_caps.push_back({gpu, gi, std::nullopt, 10 * gi});
        scene.evidence().mig_caps.push_back({gpu, gi, 0, 10 * gi + 1});
    }
    return scene;
}

std::string old_name(int gi) { return fmt::format("MIG-{}/{}/0", uuid_of(0), gi); }

TEST(MigInstance, WithAnOldNameIsJoinedByItsNumbers) {
    auto scene = mig_scene({old_name(9), old_name(7)}, {7, 9});
    scene.holder(812, 0, 500).holder(813, 0, 600);
    scene.get(812).open_caps = {70, 71};
    scene.get(813).open_caps = {90, 91};
    const auto host = judge(scene);
    EXPECT_EQ(line(host.gpus[0].instances), "0 1g.18gb 9/0: 813; 1 1g.18gb 7/0: 812");
    EXPECT_EQ(host.gpus[0].holders.size(), 2u);
    EXPECT_EQ(line(host.gpus[1].instances), "");
}

TEST(MigInstance, ThatIsTheOnlyOneIsJoinedWithTheOnlyPair) {
    auto scene = mig_scene({"MIG-1"}, {7});
    scene.holder(812, 0, 500);
    scene.get(812).open_caps = {70, 71};
    EXPECT_EQ(line(judge(scene).gpus[0].instances), "0 1g.18gb 7/0: 812");
}

TEST(MigInstances, ThatNothingJoinsAreListedEachWithWhatIsKnown) {
    auto scene = mig_scene({"MIG-1", "MIG-2"}, {7, 9});
    scene.holder(812, 0, 500);
    scene.get(812).open_caps = {90, 91};
    const auto host = judge(scene);
    EXPECT_EQ(line(host.gpus[0].instances), "0 1g.18gb:; 1 1g.18gb:; ? 7/0:; ? 9/0: 812");
    EXPECT_EQ(host.gpus[0].holders.size(), 1u);
    EXPECT_EQ(host.verdict, Verdict::dirty);
}

TEST(MigInstance, IsHeldByWhoHasBothOfItsDeviceFilesOpen) {
    auto scene = mig_scene({"MIG-1"}, {7});
    scene.holder(812, 0, 500).holder(813, 0, 500);
    scene.get(812).open_caps = {71};
    scene.get(813).open_caps = {70};
    EXPECT_EQ(line(judge(scene).gpus[0].instances), "0 1g.18gb 7/0:");
}

TEST(MigInstances, BelongToTheGpuOfTheirDeviceMinor) {
    auto scene = mig_scene({}, {7}, 1);
    (*scene.evidence().driver_gpus)[0].minor = 1;
    (*scene.evidence().driver_gpus)[1].minor = 0;
    const auto host = judge(scene);
    EXPECT_EQ(line(host.gpus[0].instances), "? 7/0:");
    EXPECT_EQ(line(host.gpus[1].instances), "");
    (*scene.evidence().driver_gpus)[0].minor.reset();
    EXPECT_EQ(line(judge(scene).gpus[0].instances), "");
}

TEST(ComputeApp, OfAMigInstanceIsAHolderOfItsGpuAndOfTheInstance) {
    auto scene = mig_scene({"MIG-1", "MIG-2"}, {});
    scene.holder(812, 0, 500);
    scene.evidence().apps[0].uuid = "MIG-2";
    auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    ASSERT_EQ(host.gpus[0].holders.size(), 1u);
    EXPECT_EQ(line(host.gpus[0].instances), "0 1g.18gb:; 1 1g.18gb: 812");
    scene.evidence().apps[0].uuid = old_name(7);
    scene.evidence().listed.reset();
    host = judge(scene);
    EXPECT_EQ(host.gpus[0].holders.size(), 1u);
}

TEST(ComputeApp, OfAMigInstanceOfWhichNobodyKnowsTheGpuIsUnknown) {
    Scene scene(2);
    scene.holder(812, 0, 500);
    for (const auto* uuid : {"MIG-2", "MIG-GPU-/7/0", "MIG-GPU-x/7", "MIG-GPU-x/-1/0", "MIG-GPU-x/7/0/0"}) {
        scene.evidence().apps[0].uuid = uuid;
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown) << uuid;
        EXPECT_EQ(codes(host.findings).find("holder-not-placed:unknown"), 0u) << uuid;
    }
}

TEST(MigInstance, TwiceInTheListIsListedTwiceAndJoinedOnce) {
    auto scene = mig_scene({old_name(7), old_name(7)}, {7});
    EXPECT_EQ(line(judge(scene).gpus[0].instances), "0 1g.18gb 7/0:; 1 1g.18gb:");
}

TEST(MigInstances, HaveNoHolderThatIsNotOneOfTheGpu) {
    auto scene = mig_scene({"MIG-1"}, {7});
    scene.opener(900);
    scene.get(900).open_caps = {70, 71};
    const auto host = judge(scene);
    EXPECT_EQ(line(host.gpus[0].instances), "0 1g.18gb 7/0:");
    EXPECT_EQ(codes(host.findings), "opener:dirty");
}

}  // namespace
}  // namespace cleanslate::agentless
