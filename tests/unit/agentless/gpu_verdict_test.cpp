// One GPU: what its row must have to be clean, and what makes it sick.

#include "agentless/gpu_verdict.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using testing::find;
using testing::judge;
using testing::Scene;
using testing::uuid_of;

TEST(Gpu, IsCleanOnlyWhileItsRowIsWhole) {
    using Change = std::pair<const char*, void (*)(GpuRow&)>;
    const std::vector<Change> changes{
        {"index-unreadable", [](GpuRow& r) { r.index.reset(); }},
        {"memory-unreadable", [](GpuRow& r) { r.used.reset(); }},
        {"memory-not-shown", [](GpuRow& r) { r.used.reset(), r.cells[3] = "[N/A]"; }},
        {"permission-refused", [](GpuRow& r) { r.cells[5] = "[Insufficient Permissions]"; }},
        {"row-repeated", [](GpuRow& r) { r.index = 0; }},
        {"row-repeated", [](GpuRow& r) { r.uuid = uuid_of(0); }},
        {"row-repeated", [](GpuRow& r) { r.bus_id = bus_of(0); }},
        {"index-unexpected", [](GpuRow& r) { r.index = 2; }},
        {"row-fused", [](GpuRow& r) { r.repaired = true; }},
        {"row-malformed",
         [](GpuRow& r) {
             r.troubles.push_back({Trouble::unreadable, "row-malformed", "x", {}});
         }},
    };
    for (const auto& [code, change] : changes) {
        Scene scene(2);
        change(scene.evidence().gpus[1]);
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown) << code;
        const Finding* found = nullptr;
        for (const auto& gpu : host.gpus)
            if (gpu.verdict == Verdict::unknown && found == nullptr) found = find(gpu.findings, code);
        EXPECT_NE(found, nullptr) << code;
    }
}

TEST(SickGpu, IsSickWhateverItsMemorySays) {
    Scene scene(1);
    scene.evidence().gpus[0].cells[5] = "[GPU requires reset]";
    EXPECT_EQ(judge(scene).verdict, Verdict::sick);
    scene.used(0, 76107);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_NE(find(host.gpus[0].findings, "memory-in-use"), nullptr);
}

TEST(SickGpu, ThatWantsRecoveryOrARemapIsNamed) {
    Scene scene(1);
    scene.evidence().gpus[0].troubles.push_back(
        {Trouble::sick, "recovery-action", "recovery action GPU Reset", {}});
    EXPECT_EQ(judge(scene).verdict, Verdict::sick);
}

}  // namespace
}  // namespace cleanslate::agentless
