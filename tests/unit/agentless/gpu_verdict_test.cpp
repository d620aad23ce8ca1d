// One GPU: what its row must have to be clean, and what makes it sick.

#include "agentless/gpu_verdict.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agentless/nvidia_smi_optional.hpp"
#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using testing::codes;
using testing::find;
using testing::judge;
using testing::Scene;
using testing::uuid_of;

TEST(SickGpu, SaysOnceWhatAllOfItsCellsShow) {
    Scene scene(1);
    auto& row = scene.evidence().gpus[0];
    row.cells[3] = row.cells[5] = row.cells[6] = "[GPU requires reset]";
    for (const auto* column : {"gpu_recovery_action", "remapped_rows.pending", "fabric.state"})
        row.optional.push_back({column, "[GPU requires reset]"});
    row.optional.push_back({"remapped_rows.failure", "Yes"});
    judge_optional_columns(row);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_EQ(codes(host.gpus[0].findings), "gpu-requires-reset:sick row-remap-failed:sick");
}

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

TEST(Gpu, WhoseIndexIsNotShownStillSaysWhatItsMemoryIs) {
    Scene scene(1);
    scene.evidence().gpus = read_gpu_table("index, memory.used [MiB]\n[N/A], [N/A]\n", {}).rows;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_EQ(codes(host.gpus.at(0).findings), "index-unreadable:unknown memory-not-shown:unknown");
    EXPECT_EQ(host.gpus[0].findings.at(0).text, "index is [N/A]");
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

TEST(SickGpu, IsOneWhoseOptionalColumnsSaySo) {
    Scene scene(2);
    auto& row = scene.evidence().gpus[1];
    row.optional = {{"fabric.state", "In Progress\x1b"}};
    row.troubles.push_back({Trouble::sick, "fabric-not-ready", "fabric.state is In Progress", {}});
    row.troubles.push_back({Trouble::none, "ecc-uncorrected", "3 uncorrectable memory errors", {}});
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_EQ(codes(host.gpus[1].findings), "fabric-not-ready:sick ecc-uncorrected:note");
    ASSERT_EQ(host.gpus[1].optional.size(), 1u);
    EXPECT_EQ(host.gpus[1].optional[0].column, "fabric.state");
    EXPECT_EQ(host.gpus[1].optional[0].cell.find('\x1b'), std::string::npos);
}

// GB10 as the core query shows it.
Scene unified_scene() {
    Scene scene(1);
    auto& row = scene.evidence().gpus[0];
    row.used.reset();
    row.total.reset();
    row.cells[3] = row.cells[4] = "[N/A]";
    return scene;
}

HostVerdict judge_unified(Scene& scene) {
    Expectations unified;
    unified.unified_memory = true;
    return agentless::judge(scene.evidence(), unified);
}

TEST(UnifiedMemory, IsJudgedByProcessesOnlyWhereTheInventorySaysSo) {
    auto scene = unified_scene();
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
    auto host = judge_unified(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.gpus[0].findings), "unified-memory:note");
    EXPECT_EQ(host.gpus[0].limit, std::nullopt);
    scene.evidence().apps.push_back({1182, uuid_of(0), std::nullopt, "[Not Found]"});
    host = judge_unified(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    scene.evidence().apps.clear();
    scene.opener(843);
    EXPECT_EQ(judge_unified(scene).verdict, Verdict::dirty);
}

TEST(UnifiedMemory, ExcusesNothingButACellThatSaysNotSupported) {
    for (const auto* cell : {"what", "", "-1 MiB", "12,345 MiB", "1.5 MiB", "N/A MiB", "none",
                             "[Insufficient Permissions]", "0x10"}) {
        auto scene = unified_scene();
        scene.evidence().gpus[0].cells[3] = cell;
        EXPECT_EQ(judge_unified(scene).verdict, Verdict::unknown) << cell;
    }
    auto sick = unified_scene();
    sick.evidence().gpus[0].cells[3] = "[GPU is lost]";
    EXPECT_EQ(judge_unified(sick).verdict, Verdict::sick);
    auto short_row = unified_scene();
    short_row.evidence().gpus[0].cells = {"0", "[N/A]"};
    EXPECT_EQ(judge_unified(short_row).verdict, Verdict::unknown);
}

TEST(UnifiedMemory, IsNotEnoughWhereHoldersAreNotVisible) {
    using Change = void (*)(Evidence&);
    const std::vector<Change> changes{
        [](Evidence& e) { e.root = false; },
        [](Evidence& e) { e.holders_visible = false, e.unreadable = 1; },
        [](Evidence& e) { e.proc_hides_others = true; },
        [](Evidence& e) { e.app_query.exit_status = 255; },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        auto scene = unified_scene();
        changes[i](scene.evidence());
        const auto host = judge_unified(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown) << i;
        EXPECT_NE(find(host.gpus[0].findings, "memory-not-shown"), nullptr) << i;
    }
}

TEST(UnifiedMemory, OfAGpuThatShowsItIsJudgedByIt) {
    Scene scene(1);
    scene.used(0, 500);
    const auto host = judge_unified(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(host.gpus[0].limit, Mebibytes{100});
}

TEST(VgpuGuest, IsNamedAndMayShowNoHealth) {
    Scene scene(1);
    auto& row = scene.evidence().gpus[0];
    row.cells[5] = "[N/A]";
    row.troubles.push_back({Trouble::none, "health-not-shown", "x", {}});
    EXPECT_EQ(codes(judge(scene).findings), "health-not-shown:note");
    row.name = row.cells[7] = "GRID A100-8Q";
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "");
    EXPECT_EQ(codes(host.gpus[0].findings), "vgpu-guest:note");
    row.used.reset();
    row.cells[3] = "[N/A]";
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
}

TEST(Parse, SharesOptionalColumnsLimitsAndNames) {
    Scene scene(1);
    scene.used(0, 300);
    auto& e = scene.evidence();
    e.gpus[0].name = "GRID A100-8Q";
    e.gpus[0].optional = {{"persistence_mode", "Disabled"}};
    e.gpus[0].troubles.push_back({Trouble::none, "persistence-off", "persistence mode is off", {}});
    e.driver_version = "470.57.02";
    Expectations parse;
    parse.parse_only = true;
    parse.gpus = 1;
    e.gpu_query.exit_status.reset();
    auto host = agentless::judge(e, parse);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.gpus[0].findings), "persistence-off:note vgpu-guest:note reserved-counted-in:note");
    EXPECT_EQ(host.gpus[0].optional.size(), 1u);
    EXPECT_EQ(host.gpus[0].limit, Mebibytes{400});
    e.gpu_query.exit_status = 255;
    host = agentless::judge(e, parse);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_NE(find(host.findings, "nvidia-smi-failed"), nullptr);
}

TEST(UnifiedMemory, ThatTheInventorySaysAndNotEveryProcessWasSeenNamesWhy) {
    auto scene = unified_scene();
    scene.evidence().root = false;
    const auto host = judge_unified(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_EQ(
        find(host.gpus[0].findings, "memory-not-shown")->text,
        "the used memory is not shown ([N/A]), and not every process was seen: look as root, outside any "
        "container");
    EXPECT_EQ(find(judge(scene).gpus[0].findings, "memory-not-shown")->text,
              "the used memory is not shown ([N/A])");
}

}  // namespace
}  // namespace cleanslate::agentless
