// What the optional query and the list cost a verdict: nothing, unless they say that a GPU is sick.

#include "agentless/optional_verdict.hpp"

#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using testing::codes;
using testing::fail_row;
using testing::find;
using testing::judge;
using testing::said;
using testing::Scene;

TEST(OptionalEvidence, ThatCouldNotBeReadIsANote) {
    using Change = void (*)(ToolResult&);
    const std::vector<Change> changes{
        [](ToolResult& t) { t.exit_status = 255; },
        [](ToolResult& t) { t.exit_status = 4; },
        [](ToolResult& t) {
            t = {std::nullopt, true, false};
        },
        [](ToolResult& t) {
            t = {std::nullopt, false, true};
        },
    };
    for (std::size_t i = 0; i < changes.size(); ++i)
        for (const auto tool : {&Evidence::optional_query, &Evidence::list_query}) {
            Scene scene(2);
            scene.everywhere();
            changes[i](scene.evidence().*tool);
            const auto host = judge(scene);
            EXPECT_EQ(host.verdict, Verdict::clean) << i;
            EXPECT_EQ(codes(host.findings), "optional-not-read:note") << i;
        }
}

TEST(OptionalEvidence, WithALineThatIsNoRowIsANoteWithTheLine) {
    for (const auto lines : {&Evidence::optional_problems, &Evidence::list_problems}) {
        Scene scene(2);
        scene.everywhere();
        (scene.evidence().*lines).emplace_back("\x1b[31mwhat is this");
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::clean);
        EXPECT_EQ(codes(host.findings), "optional-not-read:note");
        EXPECT_NE(host.findings[0].text.find("[31mwhat is this"), std::string::npos);
        EXPECT_EQ(host.findings[0].text.find('\x1b'), std::string::npos);
    }
}

TEST(OptionalEvidence, ThatWasNotWantedSaysNothing) {
    Scene scene(2);
    scene.evidence().optional_query.skipped = scene.evidence().list_query.skipped = true;
    EXPECT_EQ(codes(judge(scene).findings), "");
}

TEST(OptionalEvidence, ForWhichNoTimeWasLeftIsANoteBesideTheSlowDriver) {
    Scene scene(2);
    scene.evidence().optional_query.skipped = scene.evidence().list_query.skipped = true;
    scene.evidence().gpu_query.took = Milliseconds(26'500);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "optional-not-read:note optional-not-read:note driver-slow:note");
}

TEST(OptionalEvidence, OfAHungDriverIsUnknownWhereAnNvidiaSmiHangsInTheKernel) {
    for (const auto tool : {&Evidence::optional_query, &Evidence::list_query}) {
        Scene scene(2);
        scene.everywhere();
        (scene.evidence().*tool) = {std::nullopt, true, false};
        scene.evidence().stuck = {4000};
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown);
        EXPECT_EQ(codes(host.findings), "driver-hung:unknown");
        EXPECT_NE(host.findings[0].text.find("4000"), std::string::npos);
    }
}

TEST(OptionalEvidence, OfAHostWithASickGpuFailsWithoutANote) {
    Scene scene(2);
    scene.everywhere();
    scene.evidence().gpus[1].cells[5] = "[GPU requires reset]";
    scene.evidence().optional_query.exit_status = scene.evidence().list_query.exit_status = 255;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_EQ(codes(host.findings), "");
}

TEST(OptionalEvidence, WhoseProseNamesASickGpuCountsAsIfTheCoreQueryHadPrintedIt) {
    for (const auto lines : {&Evidence::optional_problems, &Evidence::list_problems}) {
        Scene scene(8);
        scene.everywhere();
        (scene.evidence().*lines)
            .emplace_back("Unable to determine the device handle for gpu 0000:12:00.0: GPU is lost.");
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::sick);
        EXPECT_EQ(codes(host.findings), "");
        EXPECT_EQ(codes(host.gpus[2].findings), "gpu-lost:sick");
    }
}

TEST(OptionalEvidence, WhoseProseNamesAGpuThatNobodyKnowsMakesTheHostSick) {
    Scene scene(2);
    scene.everywhere();
    scene.evidence().list_problems.emplace_back("WARNING: infoROM is corrupted at gpu 0000:99:00.0");
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_EQ(codes(host.findings), "inforom-corrupted:sick");
}

TEST(OptionalEvidence, WhoseFailedRowNamesNoGpuIsNewsOnlyWhereNoneIsSick) {
    const std::string row = "[GPU requires reset], [GPU requires reset], [GPU requires reset], None";
    Scene news(8);
    news.everywhere();
    news.evidence().optional_problems = {row};
    EXPECT_EQ(judge(news).verdict, Verdict::sick);
    EXPECT_EQ(codes(judge(news).findings), "gpu-requires-reset:sick");
    Scene known(8);
    known.everywhere();
    fail_row(known, 2, "[GPU requires reset]");
    known.evidence().gpu_query.exit_status = known.evidence().optional_query.exit_status = 255;
    known.evidence().optional_problems = {row};
    EXPECT_EQ(judge(known).verdict, Verdict::sick);
    EXPECT_EQ(codes(judge(known).findings), "");
}

TEST(OptionalEvidence, WithARowThatFailedAndIsOfNoKnownGpuIsSickWhateverTheFailure) {
    for (const std::string cell :
         {"[Unknown Error]", "Unknown Error", "ERR!", "[GPU is lost]", "[GPU requires reset]"}) {
        Scene scene(2);
        scene.everywhere();
        scene.evidence().optional_problems = {fmt::format("{0}, {0}, {0}, {0}", cell)};
        EXPECT_EQ(judge(scene).verdict, Verdict::sick) << cell;
        EXPECT_EQ(codes(judge(scene).gpus[1].findings), "") << cell;
        for (const auto& who : {bus_of(1), testing::uuid_of(1)}) {
            scene.evidence().optional_problems = {fmt::format("7, {}, {}, None", who, cell)};
            const auto host = judge(scene);
            EXPECT_EQ(host.verdict, Verdict::sick) << cell;
            EXPECT_EQ(host.gpus[1].verdict, Verdict::sick) << cell << who;
            EXPECT_EQ(codes(host.findings), "") << cell;
        }
    }
}

TEST(OptionalEvidence, WithARowOfNoKnownGpuThatShowsNoFailureIsANote) {
    for (const std::string cell : {"[N/A]", "[Insufficient Permissions]", "", "Enabled", "[No such thing]"}) {
        Scene scene(2);
        scene.everywhere();
        scene.evidence().optional_problems = {fmt::format("7, {}, {}", bus_of(9), cell)};
        EXPECT_EQ(judge(scene).verdict, Verdict::clean) << cell;
        EXPECT_EQ(codes(judge(scene).findings), "optional-not-read:note") << cell;
    }
}

TEST(UnknownFields, AreNamedInOneNote) {
    Scene scene(2);
    scene.everywhere();
    scene.evidence().unknown_fields = {"fabric.state", "addressing_mode"};
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    ASSERT_EQ(codes(host.findings), "unknown-optional-field:note");
    EXPECT_EQ(host.findings[0].text, "not known to this nvidia-smi: fabric.state, addressing_mode");
}

TEST(SlowDriver, IsOneWhoseQueryTookFiveSecondsOrMore) {
    for (const auto tool : {&Evidence::gpu_query, &Evidence::app_query}) {
        Scene scene(2);
        (scene.evidence().*tool).took = Milliseconds(4'999);
        EXPECT_EQ(codes(judge(scene).findings), "");
        (scene.evidence().*tool).took = Milliseconds(5'000);
        EXPECT_EQ(judge(scene).verdict, Verdict::clean);
        EXPECT_EQ(codes(judge(scene).findings), "driver-slow:note");
    }
}

TEST(OptionalEvidence, OfAHostWithoutGpusSaysNothing) {
    Scene scene(0);
    auto& e = scene.evidence();
    e.driver_gpus.reset();
    e.gpu_query.exit_status = e.optional_query.exit_status = e.list_query.exit_status = 6;
    e.messages.push_back(said("No devices were found"));
    e.list_problems.emplace_back("No devices were found");
    Expectations none;
    none.gpus = 0;
    const auto host = agentless::judge(e, none);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "");
}

}  // namespace
}  // namespace cleanslate::agentless
