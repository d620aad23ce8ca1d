#include "agentless/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agentless/findings.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using ::testing::HasSubstr;
using testing::Scene;
using testing::uuid_of;

// What a check leaves behind of a host that shows `scene`.
HostOutcome outcome_of(Scene scene, Expectations expectations = {}) {
    HostOutcome host;
    host.name = "gpu01";
    host.driver_version = "580.95.05";
    host.last = judge(scene.evidence(), expectations);
    host.verdict = host.last->verdict;
    return host;
}

Recording recorded(Scene scene, Mebibytes most = most_idle) { return record_idle(outcome_of(scene), most); }

// "2: why" of each GPU that was left out, "host: why" where all were.
std::string left_out(const Recording& recording) {
    std::string text;
    for (const LeftOut& one : recording.left_out)
        text += (recording.whole_host ? "host"
                 : one.index          ? std::to_string(*one.index)
                                      : "?") +
                ": " + one.why + "\n";
    return text;
}

TEST(RecordIdle, TakesEveryGpuOfACleanHostByUuid) {
    const auto recording = recorded(Scene(8).used(3, 14));
    EXPECT_EQ(left_out(recording), "");
    ASSERT_EQ(recording.gpus.size(), 8u);
    const auto& [uuid, gpu] = recording.gpus[3];
    EXPECT_EQ(uuid, uuid_of(3));
    EXPECT_EQ(gpu.host, "gpu01");
    EXPECT_EQ(gpu.index, 3);
    EXPECT_EQ(gpu.used, Mebibytes{14});
    EXPECT_EQ(gpu.driver, "580.95.05");
}

TEST(RecordIdle, TakesMemoryAboveTheUsualLimitThatNobodyHolds) {
    const auto recording = recorded(Scene(2).used(0, 308).used(1, 500));
    EXPECT_EQ(left_out(recording), "");
    ASSERT_EQ(recording.gpus.size(), 2u);
    EXPECT_EQ(recording.gpus[1].second.used, Mebibytes{500});
}

TEST(RecordIdle, CallsWhatIsTooMuchALeak) {
    const auto recording = recorded(Scene(2).used(0, 501));
    EXPECT_EQ(left_out(recording), "0: 501 MiB used: above 500 MiB it is no idle memory but a leak\n");
    EXPECT_EQ(recording.gpus.size(), 1u);
    EXPECT_EQ(left_out(recorded(Scene(2).used(0, 501), Mebibytes{2048})), "");
}

TEST(RecordIdle, TakesTheContextOfAProcessThatIsNotSeenForNoIdleMemory) {
    const auto recording = recorded(Scene(2).used(0, 518));
    EXPECT_THAT(left_out(recording), HasSubstr("0: 518 MiB used"));
    EXPECT_EQ(recording.gpus.size(), 1u);
}

TEST(RecordIdle, LeavesOutWhatIsHeldAtAnyMemory) {
    const auto recording = recorded(Scene(4).holder(812, 2, 1));
    EXPECT_THAT(left_out(recording), HasSubstr("2: held by pid 812"));
    EXPECT_EQ(recording.gpus.size(), 3u);
}

TEST(RecordIdle, BelievesNoUnheldMemoryBesideAHolderOfAnotherGpu) {
    const auto recording = recorded(Scene(4).holder(812, 2, 9000).used(1, 300).used(3, 4));
    EXPECT_THAT(left_out(recording), HasSubstr("1: 300 MiB used, and another GPU of this host is held\n"));
    ASSERT_EQ(recording.gpus.size(), 2u);
    EXPECT_EQ(recording.gpus[1].first, uuid_of(3));
}

TEST(RecordIdle, LeavesOutAGhostsGpu) {
    const auto recording = recorded(Scene(4).ghost(700, 2, 500));
    EXPECT_THAT(left_out(recording), HasSubstr("2: ghost: "));
    EXPECT_EQ(recording.gpus.size(), 3u);
}

TEST(RecordIdle, TakesOffWhatProtectedHoldersHave) {
    Scene scene(2);
    scene.holder(900, 1, 300, 1, "nv-hostengine").used(1, 4);
    scene.get(900).exe = "/usr/bin/nv-hostengine";
    scene.get(900).uid = 0;
    scene.get(900).user = "root";
    const auto recording = recorded(scene);
    EXPECT_EQ(left_out(recording), "");
    ASSERT_EQ(recording.gpus.size(), 2u);
    EXPECT_EQ(recording.gpus[1].second.used, Mebibytes{4}) << "else 300 MiB would pass once it is gone";
}

TEST(RecordIdle, LeavesOutASickGpuAndTakesTheOthers) {
    Scene scene(4);
    scene.evidence().gpus[1].cells[5] = "[GPU requires reset]";
    const auto recording = recorded(scene);
    EXPECT_THAT(left_out(recording), HasSubstr("1: gpu-requires-reset: "));
    EXPECT_EQ(recording.gpus.size(), 3u);
}

TEST(RecordIdle, TakesNothingOfAHostWithAnOpener) {
    const auto recording = recorded(Scene(4).opener(77));
    EXPECT_TRUE(recording.whole_host);
    EXPECT_THAT(left_out(recording), HasSubstr("host: opener: "));
    EXPECT_TRUE(recording.gpus.empty()) << "an opener costs a few MiB on each GPU";
}

TEST(RecordIdle, TakesNothingOfAHostThatIsUnknownAsAWhole) {
    Scene scene(4);
    scene.evidence().app_query.exit_status = 9;
    EXPECT_TRUE(recorded(scene).whole_host);
    EXPECT_TRUE(recorded(scene).gpus.empty());

    HostOutcome lost;
    lost.name = "gpu01";
    lost.error = Error{"connect_refused", "connect", "connection refused", "see that sshd runs"};
    EXPECT_EQ(left_out(record_idle(lost, most_idle)), "host: connect: connection refused\n");

    HostOutcome never;
    EXPECT_TRUE(record_idle(never, most_idle).whole_host);
}

TEST(RecordIdle, TakesNothingOfAHostThatAnErrorEndedAfterACleanSurvey) {
    HostOutcome host = outcome_of(Scene(4));
    host.error = Error{"connection_lost", "survey", "the connection was lost", ""};
    EXPECT_TRUE(record_idle(host, most_idle).gpus.empty());
}

TEST(RecordIdle, RecordsNoMemoryThatIsNotShown) {
    Scene scene(2);
    scene.evidence().gpus[0].used.reset();
    scene.evidence().gpus[0].cells[3] = "[N/A]";
    Expectations unified;
    unified.unified_memory = true;
    for (const auto& expectations : {Expectations{}, unified}) {
        const auto recording = record_idle(outcome_of(scene, expectations), most_idle);
        for (const auto& [uuid, gpu] : recording.gpus) EXPECT_NE(uuid, uuid_of(0));
        EXPECT_FALSE(recording.left_out.empty());
    }
}

TEST(RecordIdle, WithoutAFullViewTakesOnlyWhatIsWithinTheUsualLimit) {
    Scene scene(2);
    scene.used(1, 300);
    scene.evidence().root = false;
    scene.evidence().holders_visible = false;
    const auto recording = recorded(scene);
    if (!recording.whole_host) {
        ASSERT_EQ(recording.gpus.size(), 1u);
        EXPECT_EQ(recording.gpus[0].first, uuid_of(0));
    }
    EXPECT_FALSE(recording.left_out.empty());
}

// Verdicts made by hand: what no judge should ever say, and what a later one may.
GpuVerdict idle_gpu() {
    GpuVerdict gpu;
    gpu.index = 0;
    gpu.uuid = uuid_of(0);
    gpu.bus_id = bus_of(0);
    gpu.used = Mebibytes{4};
    gpu.verdict = Verdict::clean;
    return gpu;
}

std::size_t taken(const GpuVerdict& gpu) {
    HostOutcome host;
    host.last.emplace();
    host.last->gpus = {gpu};
    const auto recording = record_idle(host, most_idle);
    EXPECT_EQ(recording.gpus.size() + recording.left_out.size(), 1u);
    return recording.gpus.size();
}

TEST(RecordIdle, TakesAGpuForNoOtherReasonThanThatAllSpeaksForIt) {
    EXPECT_EQ(taken(idle_gpu()), 1u);
    for (const auto verdict : {Verdict::sick, Verdict::unknown, Verdict::unreachable}) {
        GpuVerdict gpu = idle_gpu();
        gpu.verdict = verdict;
        EXPECT_EQ(taken(gpu), 0u) << to_string(verdict);
    }
    for (const FindingKind& kind : finding_kinds()) {
        GpuVerdict gpu = idle_gpu();
        gpu.verdict = Verdict::dirty;
        gpu.findings = {finding(kind.code, "x")};
        const bool memory_alone = kind.code == "memory-in-use" || kind.code == "memory-without-holder" ||
                                  kind.code == "graphics-memory";
        EXPECT_EQ(taken(gpu), memory_alone || kind.severity == Severity::note ? 1u : 0u) << kind.code;
    }
    Holder protected_one;
    protected_one.is_protected = true;
    for (auto change :
         {+[](Holder& h) { h.is_protected = false; }, +[](Holder& h) { h.ghost = true; },
          +[](Holder& h) { h.foreign_pid = true; }, +[](Holder& h) { h.without_device = true; }}) {
        GpuVerdict gpu = idle_gpu();
        gpu.holders = {protected_one};
        EXPECT_EQ(taken(gpu), 1u);
        change(gpu.holders[0]);
        EXPECT_EQ(taken(gpu), 0u);
    }
    for (auto change :
         {+[](GpuVerdict& g) { g.index.reset(); }, +[](GpuVerdict& g) { g.uuid.clear(); },
          +[](GpuVerdict& g) { g.uuid = "GPU-0\\x0a"; }, +[](GpuVerdict& g) { g.used.reset(); }}) {
        GpuVerdict gpu = idle_gpu();
        change(gpu);
        EXPECT_EQ(taken(gpu), 0u);
    }
}

TEST(RecordIdle, KeepsADriverVersionOnlyWhereItIsOne) {
    for (const auto& [shown, kept] : {std::pair{"470.57.02", "470.57.02"}, {"x\ny", ""}, {"580 evil", ""}}) {
        HostOutcome host = outcome_of(Scene(1));
        host.driver_version = shown;
        EXPECT_EQ(record_idle(host, most_idle).gpus.at(0).second.driver, kept);
    }
}

}  // namespace
}  // namespace cleanslate::agentless
