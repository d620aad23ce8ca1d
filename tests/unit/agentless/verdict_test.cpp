// Evidence in, verdicts out.

#include "agentless/verdict.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agentless/nvidia_smi.hpp"
#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::codes;
using testing::fail_row;
using testing::find;
using testing::judge;
using testing::said;
using testing::Scene;
using testing::uuid_of;

TEST(Host, WithEightIdleGpusIsClean) {
    Scene scene(8);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_TRUE(host.clean());
    EXPECT_EQ(codes(host.findings), "");
    ASSERT_EQ(host.gpus.size(), 8u);
    EXPECT_EQ(host.gpus[3].index, 3);
    EXPECT_EQ(host.gpus[3].uuid, uuid_of(3));
    EXPECT_EQ(host.gpus[3].verdict, Verdict::clean);
}

TEST(Host, OfWhichNothingWasObservedIsUnknown) {
    EXPECT_EQ(codes(agentless::judge({}, {}).findings), "survey-incomplete:unknown");
    EXPECT_EQ(agentless::judge({}, {}).verdict, Verdict::unknown);
    Expectations anything;
    anything.any_count = true;
    anything.gpus = 0;
    EXPECT_EQ(agentless::judge({}, anything).verdict, Verdict::unknown);
}

// Each change to a clean host's evidence takes something away that the proof needs.
TEST(Host, IsCleanOnlyWhileEveryPartOfTheProofIsThere) {
    using Change = std::pair<const char*, void (*)(Evidence&)>;
    const std::vector<Change> changes{
        {"survey-incomplete", [](Evidence& e) { e.complete = false; }},
        {"driver-hung",
         [](Evidence& e) {
             e.gpu_query = {std::nullopt, true, false};
         }},
        {"nvidia-smi-missing",
         [](Evidence& e) {
             e.gpu_query = {std::nullopt, false, true};
         }},
        {"nvidia-smi-cut", [](Evidence& e) { e.gpu_query.exit_status.reset(); }},
        {"nvidia-smi-failed", [](Evidence& e) { e.gpu_query.exit_status = 255; }},
        {"driver-not-loaded", [](Evidence& e) { e.gpu_query.exit_status = 9; }},
        {"nvidia-smi-failed", [](Evidence& e) { e.gpu_query.exit_status = 14; }},
        {"driver-hung",
         [](Evidence& e) {
             e.app_query = {124, true, false};
         }},
        {"nvidia-smi-cut", [](Evidence& e) { e.app_query.exit_status.reset(); }},
        {"nvidia-smi-failed", [](Evidence& e) { e.app_query.exit_status = 255; }},
        {"apps-unreadable", [](Evidence& e) { e.app_problems.push_back("what is this"); }},
        {"no-gpus", [](Evidence& e) { e.gpus.clear(); }},
        {"count-mismatch", [](Evidence& e) { e.gpus.pop_back(); }},
        {"count-mismatch", [](Evidence& e) { e.driver_gpus->pop_back(); }},
        {"count-unproven", [](Evidence& e) { e.driver_gpus.reset(), e.device_minors.reset(); }},
        {"holders-unreadable", [](Evidence& e) { e.holders_visible = false; }},
        {"tool-missing", [](Evidence& e) { e.missing_tools.push_back("awk"); }},
        {"unrecognised-line", [](Evidence& e) { e.messages.push_back(said("what is this")); }},
        {"permission-refused",
         [](Evidence& e) {
             e.messages.push_back(said("Failed to initialize NVML: Insufficient Permissions"));
         }},
        {"holder-not-placed",
         [](Evidence& e) {
             e.apps.push_back({1, "GPU-elsewhere", Mebibytes{1}, "x"});
         }},
    };
    for (const auto& [code, change] : changes) {
        Scene scene(2);
        change(scene.evidence());
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown) << code;
        EXPECT_NE(find(host.findings, code), nullptr) << code << " is not in " << codes(host.findings);
    }
}

TEST(Count, ComesFromTheInventoryThenTheDriverThenTheDeviceFiles) {
    Scene scene(8);
    scene.evidence().driver_gpus.reset();
    EXPECT_EQ(judge(scene).verdict, Verdict::clean);
    scene.evidence().device_minors.reset();
    EXPECT_NE(find(judge(scene).findings, "count-unproven"), nullptr);
    Expectations eight;
    eight.gpus = 8;
    EXPECT_EQ(agentless::judge(scene.evidence(), eight).verdict, Verdict::clean);
    eight.gpus = 7;
    EXPECT_EQ(agentless::judge(scene.evidence(), eight).verdict, Verdict::unknown);
    eight.gpus = 9;
    EXPECT_EQ(agentless::judge(scene.evidence(), eight).verdict, Verdict::unknown);
}

TEST(Count, OfTheInventoryDoesNotExcuseAGpuThatTheKernelsDriverHasBesides) {
    Scene scene(8);
    scene.evidence().driver_gpus->push_back({"00000000:99:00.0", "GPU-9", 8});
    Expectations eight;
    eight.gpus = 8;
    EXPECT_EQ(agentless::judge(scene.evidence(), eight).verdict, Verdict::unknown);
    scene.evidence().proc_hides_others = true;  // a container with some of the machine's GPUs
    const auto host = agentless::judge(scene.evidence(), eight);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "gpu-not-everywhere:note holders-not-visible:note proc-hidden:note");
}

TEST(Count, OfAHugeExpectationIsNotSpelledOut) {
    Scene scene(1);
    Expectations many;
    many.gpus = 2'000'000'000;
    EXPECT_LE(agentless::judge(scene.evidence(), many).gpus.size(), 1024u);
}

TEST(NoGpus, AreCleanOnlyWhereTheInventorySaysSoAndNothingSaysOtherwise) {
    Expectations none;
    none.gpus = 0;
    const auto verdict = [&](auto change) {
        Scene scene(0);
        scene.evidence().driver_gpus.reset();
        scene.evidence().gpu_query = {std::nullopt, false, true};
        scene.evidence().app_query = {std::nullopt, false, true};
        change(scene.evidence());
        return agentless::judge(scene.evidence(), none).verdict;
    };
    EXPECT_EQ(verdict([](Evidence&) {}), Verdict::clean);  // no nvidia-smi, no /dev/nvidiaN, no driver
    EXPECT_EQ(verdict([](Evidence& e) { e.device_minors.reset(); }), Verdict::unknown);
    EXPECT_EQ(verdict([](Evidence& e) { e.device_minors = {0}; }), Verdict::unknown);
    EXPECT_EQ(verdict([](Evidence& e) { e.driver_gpus.emplace().push_back({}); }), Verdict::unknown);
    EXPECT_EQ(verdict([](Evidence& e) { e.gpu_query = {std::nullopt, true, false}; }), Verdict::unknown);
    EXPECT_EQ(verdict([](Evidence& e) { e.gpu_query = {}; }), Verdict::unknown);
    EXPECT_EQ(verdict([](Evidence& e) { e.gpu_query = {0, false, false}; }), Verdict::unknown);
    EXPECT_EQ(verdict([](Evidence& e) {
                  e.gpu_query = {6, false, false};
                  e.messages.push_back(said("No devices were found"));
              }),
              Verdict::clean);
    EXPECT_EQ(verdict([](Evidence& e) {
                  e.gpu_query = {6, false, false};
                  e.messages.push_back(said("No devices were found"));
                  e.messages.push_back(said("what is this"));
              }),
              Verdict::unknown);
    EXPECT_EQ(verdict([](Evidence& e) { e.missing_tools.push_back("ls"); }), Verdict::unknown);
    EXPECT_EQ(verdict([](Evidence& e) { e.complete = false; }), Verdict::unknown);
    none.gpus.reset();
    EXPECT_EQ(verdict([](Evidence&) {}), Verdict::unknown);
}

TEST(SickGpu, StillHasItsHolders) {
    Scene scene(2);
    scene.holder(812, 1, 5000);
    fail_row(scene, 1);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    ASSERT_EQ(host.gpus[1].holders.size(), 1u);
    EXPECT_EQ(host.gpus[1].holders[0].key.pid, 812);
}

TEST(Text, FromTheHostIsPrintableInEveryFinding) {
    Scene scene(2);
    scene.evidence().messages.push_back(said("\x1b]0;owned\x07 \xff\xfe"));
    scene.evidence().missing_tools.push_back("a\nb");
    scene.evidence().app_problems.push_back("\x1b[2J");
    scene.evidence().gpus[1].cells[5] = "[Unknown Error]\x1b[0m";
    scene.evidence().gpus[1].name = "H200\r\n";
    const auto host = judge(scene);
    std::string all = host.gpus[1].name;
    for (const auto& f : host.findings) all += f.text;
    for (const auto& f : host.gpus[1].findings) all += f.text;
    for (const char c : all)
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f);
}

}  // namespace
}  // namespace cleanslate::agentless
