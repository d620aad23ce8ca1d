// A host that is judged by some of its GPUs alone.

#include "agentless/judged_gpus.hpp"

#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::codes;
using testing::fail_row;
using testing::find;
using testing::Scene;
using testing::uuid_of;

HostVerdict judged(Scene& scene, std::vector<std::string> gpus = {"0", "3"}) {
    Expectations expectations;
    expectations.only_gpus = std::move(gpus);
    return agentless::judge(scene.evidence(), expectations);
}

TEST(JudgedGpus, AreNamedByIndexOrUuid) {
    Scene scene(8);
    scene.holder(812, 5, 500);
    EXPECT_EQ(judged(scene).verdict, Verdict::clean);
    EXPECT_EQ(judged(scene, {"0", uuid_of(5)}).verdict, Verdict::dirty);
    EXPECT_EQ(judged(scene, {"gpu-00000000-1111-2222-3333-000000000005"}).verdict, Verdict::dirty);
    EXPECT_EQ(judged(scene, {}).verdict, Verdict::dirty);
}

TEST(JudgedGpus, LeaveTheOthersListedWithTheirOwnVerdict) {
    Scene scene(8);
    scene.holder(812, 5, 500);
    scene.evidence().gpus[6].cells[5] = "[GPU requires reset]";
    const auto host = judged(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    ASSERT_EQ(host.gpus.size(), 8U);
    EXPECT_EQ(host.gpus[5].verdict, Verdict::dirty);
    EXPECT_FALSE(host.gpus[5].judged);
    EXPECT_TRUE(host.gpus[3].judged);
    const auto* note = find(host.findings, "gpus-not-judged");
    ASSERT_NE(note, nullptr);
    EXPECT_EQ(note->severity, Severity::note);
    EXPECT_EQ(note->text, "not judged: GPU 1, 2, 4, 5 (dirty), 6 (sick), 7");
}

TEST(JudgedGpus, ThatAreNotThereMakeTheHostUnknown) {
    Scene scene(8);
    for (const std::string& gpu : {std::string("8"), std::string("GPU-elsewhere"), std::string("03")}) {
        const auto host = judged(scene, {"0", gpu});
        EXPECT_EQ(host.verdict, Verdict::unknown) << gpu;
        ASSERT_NE(find(host.findings, "gpu-not-found"), nullptr);
        EXPECT_EQ(find(host.findings, "gpu-not-found")->text, "no GPU " + gpu + " was seen");
    }
}

TEST(JudgedGpus, OfAHostWithoutGpusMakeItUnknown) {
    Scene scene(0);
    scene.evidence().messages.push_back(testing::said("No devices were found"));
    Expectations expectations;
    expectations.gpus = 0;
    EXPECT_EQ(agentless::judge(scene.evidence(), expectations).verdict, Verdict::clean);
    expectations.only_gpus = {"0"};
    EXPECT_EQ(agentless::judge(scene.evidence(), expectations).verdict, Verdict::unknown);
}

TEST(JudgedGpus, CountWithTheirOwnVerdict) {
    Scene scene(8);
    scene.evidence().gpus[3].used.reset();
    EXPECT_EQ(judged(scene).verdict, Verdict::unknown);
    EXPECT_EQ(judged(scene, {"0"}).verdict, Verdict::clean);
}

TEST(JudgedGpus, AreNotProvenWhereAGpuIsMissing) {
    Scene scene(8);
    scene.evidence().gpus.pop_back();
    const auto host = judged(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_NE(find(host.findings, "count-mismatch"), nullptr);
}

TEST(JudgedGpus, MayBeARowThatShowsNeitherIndexNorUuid) {
    Scene scene(3);
    scene.evidence().driver_gpus.reset();
    scene.evidence().device_minors.reset();
    fail_row(scene, 1, "what is this");
    fail_row(scene, 2, "what is this");
    Expectations expectations;
    expectations.gpus = 5;
    expectations.only_gpus = {"0"};
    const auto host = agentless::judge(scene.evidence(), expectations);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    ASSERT_EQ(host.gpus.size(), 3U);
    EXPECT_TRUE(host.gpus[1].judged && host.gpus[2].judged);
}

TEST(JudgedGpus, AreNotProvenByACommandThatFailed) {
    Scene scene(8);
    scene.evidence().gpu_query.exit_status = 255;
    EXPECT_EQ(judged(scene).verdict, Verdict::unknown);
    scene.evidence().gpu_query.exit_status = 0;
    scene.evidence().app_query.exit_status = 255;
    EXPECT_EQ(judged(scene).verdict, Verdict::unknown);
}

TEST(JudgedGpus, AreProvenThoughAnotherOneIsSick) {
    Scene scene(8);
    fail_row(scene, 6);
    scene.evidence().gpu_query.exit_status = 15;
    EXPECT_EQ(judged(scene).verdict, Verdict::clean) << codes(judged(scene).findings);
    EXPECT_EQ(judged(scene, {"6"}).verdict, Verdict::sick);
}

TEST(JudgedGpus, AreMadeDirtyByOpenersThatMayBeAtThem) {
    Scene scene(8);
    scene.opener(812);
    EXPECT_EQ(judged(scene).verdict, Verdict::dirty);
    auto& process = scene.get(812);
    process.open_minors = {5, 6};
    process.mapped_minors = {5};
    EXPECT_EQ(judged(scene).verdict, Verdict::clean);
    EXPECT_EQ(judged(scene).openers.size(), 1U);
    process.mapped_minors = {3};
    EXPECT_EQ(judged(scene).verdict, Verdict::dirty);
    process.mapped_minors = {9};  // of no GPU known here
    EXPECT_EQ(judged(scene).verdict, Verdict::dirty);
    process.open_minors.clear();
    process.mapped_minors.clear();  // the control files are left
    EXPECT_EQ(judged(scene).verdict, Verdict::dirty);
}

TEST(JudgedGpus, AreMadeDirtyByAnyOpenerWhereTheirDeviceFileIsNotKnown) {
    Scene scene(8);
    scene.opener(812);
    scene.get(812).open_minors = scene.get(812).mapped_minors = {5};
    (*scene.evidence().driver_gpus)[3].minor.reset();
    EXPECT_EQ(judged(scene).verdict, Verdict::dirty);
}

TEST(JudgedGpus, AreProvenWithoutRootThoughOthersWorkBeside) {
    Scene scene(8);
    scene.holder(812, 5, 500);
    auto& process = scene.get(812);
    process.open_minors.clear();
    process.mapped_minors.clear();
    process.opens_control = process.maps_control = process.fds_readable = process.maps_readable = false;
    scene.evidence().root = scene.evidence().holders_visible = false;
    scene.evidence().uid = 1001;
    const auto host = judged(scene);
    EXPECT_EQ(host.verdict, Verdict::clean) << codes(host.findings);
    EXPECT_NE(find(host.findings, "holders-not-visible"), nullptr);
    scene.evidence().apps[0].uuid = "MIG-of-nothing-known";
    EXPECT_EQ(judged(scene).verdict, Verdict::unknown);
}

}  // namespace
}  // namespace cleanslate::agentless
