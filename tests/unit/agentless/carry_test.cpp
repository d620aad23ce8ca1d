#include "agentless/carry.hpp"

#include <gtest/gtest.h>

#include "agentless/nvidia_smi_optional.hpp"
#include "agentless/verdict.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;
using testing::uuid_of;

// What a thorough survey adds: one optional cell a GPU, and how the two queries ended.
Evidence thorough(Scene scene, const std::string& cell = "No") {
    Evidence evidence = scene.evidence();
    for (GpuRow& row : evidence.gpus) {
        row.optional = {{"remapped_rows.pending", cell}};
        judge_optional_columns(row);
    }
    evidence.optional_query.exit_status = evidence.list_query.exit_status = 0;
    evidence.optional_fields = {"remapped_rows.pending"};
    evidence.unknown_fields = {"fabric.state"};
    evidence.listed.emplace();
    for (const GpuRow& row : evidence.gpus) evidence.listed->push_back({*row.index, row.name, row.uuid, {}});
    return evidence;
}

Evidence quick(Scene scene) {
    Evidence evidence = scene.evidence();
    evidence.optional_query.skipped = evidence.list_query.skipped = true;
    return evidence;
}

Verdict verdict_of_gpu(const Evidence& evidence, int index) {
    const auto host = judge(evidence, {});
    for (const auto& gpu : host.gpus)
        if (gpu.index == index) return gpu.verdict;
    return Verdict::unreachable;
}

TEST(CarryOptional, KeepsAGpuSickThatAQuickSurveyDidNotAskAbout) {
    Evidence now = quick(Scene(2));
    ASSERT_EQ(verdict_of_gpu(now, 1), Verdict::clean);
    carry_optional(now, thorough(Scene(2), "Yes"));
    EXPECT_EQ(verdict_of_gpu(now, 1), Verdict::sick);
    EXPECT_EQ(now.gpus[1].optional, (std::vector<OptionalCell>{{"remapped_rows.pending", "Yes"}}));
    ASSERT_FALSE(now.gpus[1].troubles.empty());
    EXPECT_EQ(now.gpus[1].troubles.back().code, "row-remap-pending");
}

TEST(CarryOptional, JudgesTheSameAsAThoroughSurveyWould) {
    for (const auto* cell : {"No", "Yes", "[N/A]", "[GPU is lost]", "[Unknown Error]", "7"}) {
        Evidence now = quick(Scene(2));
        const Evidence earlier = thorough(Scene(2), cell);
        carry_optional(now, earlier);
        EXPECT_EQ(verdict_of_gpu(now, 0), verdict_of_gpu(earlier, 0)) << cell;
        EXPECT_EQ(now.gpus[0].troubles.size(), earlier.gpus[0].troubles.size()) << cell;
    }
}

TEST(CarryOptional, LetsANewAnswerStand) {
    Evidence now = thorough(Scene(2), "No");
    carry_optional(now, thorough(Scene(2), "Yes"));
    EXPECT_EQ(verdict_of_gpu(now, 0), Verdict::clean);
    EXPECT_TRUE(now.gpus[0].troubles.empty());
}

TEST(CarryOptional, FindsAGpuByItsUuidWhateverItsIndexIsNow) {
    Evidence earlier = thorough(Scene(2));
    earlier.gpus[1].optional[0].cell = "Yes";
    Evidence now = quick(Scene(2));
    std::swap(now.gpus[0].uuid, now.gpus[1].uuid);
    carry_optional(now, earlier);
    EXPECT_EQ(now.gpus[0].optional[0].cell, "Yes");
    EXPECT_EQ(now.gpus[1].optional[0].cell, "No");
}

TEST(CarryOptional, FindsAGpuWithoutAUuidByBusIdOrIndex) {
    Evidence now = quick(Scene(2));
    now.gpus[1].uuid.clear();
    now.gpus[0].uuid.clear();
    now.gpus[0].bus_id.clear();
    carry_optional(now, thorough(Scene(2), "Yes"));
    EXPECT_EQ(now.gpus[0].optional.size(), 1u);
    EXPECT_EQ(now.gpus[1].optional.size(), 1u);
}

TEST(CarryOptional, GivesAnotherGpuNothing) {
    Evidence now = quick(Scene(2));
    now.gpus[1].uuid = uuid_of(9);
    carry_optional(now, thorough(Scene(2), "Yes"));
    EXPECT_TRUE(now.gpus[1].optional.empty());
    EXPECT_EQ(now.gpus.size(), 2u);
}

TEST(CarryOptional, BringsTheAnswersThatWereNotAskedFor) {
    Evidence now = quick(Scene(2));
    Evidence earlier = thorough(Scene(2));
    earlier.optional_problems = {"a line"};
    earlier.list_problems = {"another"};
    carry_optional(now, earlier);
    EXPECT_EQ(now.optional_query.exit_status, 0);
    EXPECT_FALSE(now.optional_query.skipped);
    EXPECT_EQ(now.optional_fields, earlier.optional_fields);
    EXPECT_EQ(now.unknown_fields, earlier.unknown_fields);
    EXPECT_EQ(now.optional_problems, earlier.optional_problems);
    ASSERT_TRUE(now.listed);
    EXPECT_EQ(now.listed->size(), 2u);
    EXPECT_EQ(now.list_problems, earlier.list_problems);
}

TEST(CarryOptional, OfAQueryThatWasCutSaysSoAndKeepsWhatWasSaidBefore) {
    Evidence now = quick(Scene(2));
    now.optional_query = ToolResult{{}, true, false, false, {}};
    Evidence earlier = thorough(Scene(2), "Yes");
    earlier.optional_problems = {"GPU 0000:10:00.0: GPU is lost"};
    carry_optional(now, earlier);
    EXPECT_TRUE(now.optional_query.timed_out);
    EXPECT_EQ(now.optional_problems, earlier.optional_problems);
    EXPECT_EQ(verdict_of_gpu(now, 0), Verdict::sick);
}

TEST(CarryOptional, OfNothingChangesNothing) {
    Evidence now = quick(Scene(2));
    carry_optional(now, {});
    EXPECT_TRUE(now.optional_query.skipped);
    EXPECT_FALSE(now.listed);
    EXPECT_TRUE(now.gpus[0].optional.empty());
}

TEST(OptionalPart, RemembersAGpuWhoseRowIsMissingForAWhile) {
    const Evidence first = optional_part(thorough(Scene(2), "Yes"), {});
    Evidence without = quick(Scene(2));
    without.gpus.pop_back();
    carry_optional(without, first);
    const Evidence second = optional_part(without, first);
    Evidence back = quick(Scene(2));
    carry_optional(back, second);
    EXPECT_EQ(verdict_of_gpu(back, 1), Verdict::sick);
}

TEST(OptionalPart, HoldsTheNewestCellsOnceForEachGpu) {
    const Evidence first = optional_part(thorough(Scene(2), "Yes"), {});
    const Evidence second = optional_part(thorough(Scene(2), "No"), first);
    ASSERT_EQ(second.gpus.size(), 2u);
    EXPECT_EQ(second.gpus[0].optional[0].cell, "No");
    EXPECT_TRUE(second.processes.empty());
}

}  // namespace
}  // namespace cleanslate::agentless
