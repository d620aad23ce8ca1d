// A note that every GPU has is said once.

#include "agentless/shared_notes.hpp"

#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::codes;
using testing::fail_row;
using testing::judge;
using testing::Scene;

void note(Scene& scene, std::size_t gpu, const char* code, const char* text) {
    scene.evidence().gpus[gpu].troubles.push_back({Trouble::none, code, text, {}});
}

TEST(Note, OfOneGpuStandsThere) {
    Scene scene(2);
    note(scene, 1, "hw-slowdown", "hw_slowdown is active");
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "");
    EXPECT_EQ(codes(host.gpus[1].findings), "hw-slowdown:note");
}

TEST(Note, OfEveryGpuStandsAtTheHostOnce) {
    Scene scene(8);
    for (std::size_t i = 0; i < 8; ++i) note(scene, i, "persistence-off", "persistence mode is off");
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    ASSERT_EQ(codes(host.findings), "persistence-off:note");
    EXPECT_EQ(host.findings[0].text, "persistence mode is off (all 8 GPUs)");
    for (const auto& gpu : host.gpus) EXPECT_EQ(codes(gpu.findings), "");
}

TEST(Note, OfEveryGpuThatCanTellStandsAtTheHost) {
    Scene scene(4);
    for (std::size_t i = 0; i < 4; ++i) note(scene, i, "persistence-off", "persistence mode is off");
    fail_row(scene, 0);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    ASSERT_EQ(codes(host.findings), "persistence-off:note");
    EXPECT_EQ(host.findings[0].text, "persistence mode is off (3 of 4 GPUs)");
}

TEST(Note, OfTheOnlyGpuStandsThere) {
    Scene scene(1);
    note(scene, 0, "mig-mode", "MIG mode is enabled");
    EXPECT_EQ(codes(judge(scene).gpus[0].findings), "mig-mode:note");
}

TEST(Note, WithAnotherTextAtEachGpuStandsThere) {
    Scene scene(2);
    note(scene, 0, "reserved-memory", "2000 MiB of 80000 MiB are reserved");
    note(scene, 1, "reserved-memory", "2001 MiB of 80000 MiB are reserved");
    const auto host = judge(scene);
    EXPECT_EQ(codes(host.findings), "");
    EXPECT_EQ(codes(host.gpus[1].findings), "reserved-memory:note");
}

TEST(SharedNotes, LeaveWhatIsNoNoteWhereItIs) {
    Scene scene(2);
    for (std::size_t i = 0; i < 2; ++i)
        scene.evidence().gpus[i].troubles.push_back({Trouble::unreadable, "row-malformed", "x", {}});
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_EQ(codes(host.gpus[0].findings), "row-malformed:unknown");
}

}  // namespace
}  // namespace cleanslate::agentless
