#include "agentless/gpu_use.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;
using testing::uuid_of;

// "0 2 ?" by index; ? is a GPU whose uuid could not be told.
std::string used(Scene& scene, Pid pid = 812) {
    const auto use = GpuUses(scene.evidence()).of(scene.get(pid));
    std::string text;
    for (int i = 0; i < 8; ++i)
        if (std::string uuid = uuid_of(i);
            std::ranges::any_of(use.uuids, [&](const auto& one) { return one.substr(4) == uuid.substr(4); }))
            text += fmt::format("{}{}", text.empty() ? "" : " ", i);
    return text + (use.unplaced ? "?" : "");
}

TEST(GpuUse, AHolderUsesWhereTheDriverListsItWhateverItHasOpen) {
    Scene scene(8);
    scene.holder(812, 2, 500).listed(812, 5, 100);
    EXPECT_EQ(used(scene), "2 5");
}

TEST(GpuUse, AnHeirUsesTheGpusOfTheGhosts) {
    Scene scene(8);
    scene.opener(812).ghost(4711, 3, 76107);
    scene.get(812).mapped_minors.clear();
    EXPECT_EQ(used(scene), "3");
    scene.get(812).mapped_minors = {5};  // mappings are not inherited
    EXPECT_EQ(used(scene), "3 5");
    scene.get(812).open_minors = {1};
    EXPECT_EQ(used(scene), "1 5");
}

TEST(GpuUse, AnOpenerUsesAllThatItHasOpenOrMapped) {
    Scene scene(4);
    scene.process(812, 1, "python3");
    scene.get(812).open_minors = {0};
    scene.get(812).mapped_minors = {2};
    EXPECT_EQ(used(scene), "0 2");
    scene.get(812).open_minors = scene.get(812).mapped_minors = {};
    scene.get(812).opens_control = true;
    EXPECT_EQ(used(scene), "");
}

TEST(GpuUse, MinorsAreNoIndexes) {
    Scene scene(2);
    (*scene.evidence().driver_gpus)[0].minor = 1;
    (*scene.evidence().driver_gpus)[1].minor = 0;
    scene.process(812, 1, "python3");
    scene.get(812).open_minors = {0};
    EXPECT_EQ(used(scene), "1");
    (*scene.evidence().driver_gpus)[0].minor = 0;
    EXPECT_EQ(used(scene), "?") << "two GPUs claim it";
    scene.evidence().driver_gpus.reset();
    EXPECT_EQ(used(scene), "?");
}

TEST(GpuUse, WhereTheListIsNotWholeMoreIsCounted) {
    Scene scene(2);
    scene.holder(812, 0, 500);
    EXPECT_EQ(used(scene), "0");
    scene.evidence().app_query.exit_status = 255;
    EXPECT_EQ(used(scene), "0 1");
    scene.evidence().app_query.exit_status = 0;
    scene.evidence().apps.push_back({std::nullopt, uuid_of(1), std::nullopt, "[N/A]"});
    EXPECT_EQ(used(scene), "0 1");
}

TEST(GpuUse, WhatCouldNotBeReadMayBeAnyGpu) {
    Scene scene(2);
    scene.process(812, 1, "python3").holder(813, 1, 500);
    scene.get(812).fds_readable = scene.get(813).fds_readable = false;
    EXPECT_EQ(used(scene), "?");
    EXPECT_EQ(used(scene, 813), "1");
}

TEST(GpuUse, AGhostOfAGpuWhoseFileIsNotKnownMayHaveAnybodyAsHeir) {
    Scene scene(2);
    scene.opener(812).ghost(4711, 1, 500);
    scene.get(812).mapped_minors.clear();
    (*scene.evidence().driver_gpus)[1].minor.reset();
    EXPECT_EQ(used(scene), "?");
}

TEST(GpuUse, AMigInstanceIsItsGpus) {
    Scene scene(1);
    scene.process(812, 1, "python3").listed(812, 0, 500);
    scene.evidence().apps.back().uuid = "MIG-11111111-2222-3333-4444-555555555555";
    EXPECT_EQ(used(scene), "?");
    scene.everywhere();
    (*scene.evidence().listed)[0].instances.push_back({0, "1g.18gb", scene.evidence().apps.back().uuid});
    EXPECT_EQ(used(scene), "0");
}

TEST(GpuUse, AnIndexThatTwoRowsHaveNamesNone) {
    Scene scene(2);
    EXPECT_EQ(GpuUses(scene.evidence()).name_of(*GpuUses(scene.evidence()).uuid_of("1")), "GPU 1");
    EXPECT_FALSE(GpuUses(scene.evidence()).uuid_of("7"));
    scene.evidence().gpus[0].index = 1;
    EXPECT_FALSE(GpuUses(scene.evidence()).uuid_of("1"));
}

}  // namespace
}  // namespace cleanslate::agentless
