// How nvidia-smi ended, and when sick GPUs explain it.

#include "agentless/query_verdict.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agentless/nvidia_smi.hpp"
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
using testing::uuid_of;

TEST(SickGpu, ExplainsTheStatusWhereEveryGpuIsAccountedFor) {
    Scene scene(8);
    fail_row(scene, 2);
    scene.evidence().gpu_query.exit_status = 255;
    scene.evidence().app_query.exit_status = 255;
    scene.evidence().messages.push_back(
        said("Unable to determine the device handle for GPU 0000:12:00.0: Unknown Error"));
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_EQ(codes(host.findings), "");
    EXPECT_EQ(host.gpus[2].index, 2);
    EXPECT_EQ(host.gpus[2].bus_id, bus_of(2));
    EXPECT_EQ(host.gpus[2].uuid, uuid_of(2));
    EXPECT_EQ(codes(host.gpus[2].findings), "gpu-unknown-error:sick gpu-unknown-error:sick");
}

TEST(SickGpu, DoesNotExplainAStatusWhereAnotherOneIsMissing) {
    Scene scene(8);
    fail_row(scene, 2);
    scene.evidence().gpus.pop_back();
    scene.evidence().gpu_query.exit_status = 255;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_NE(find(host.findings, "nvidia-smi-failed"), nullptr);
}

TEST(SickGpu, DoesNotExplainATimeoutOrACommandThatFailedAsAWhole) {
    for (const int status : {2, 9, 12, 18, 124, 127, 137}) {
        Scene scene(8);
        fail_row(scene, 2);
        scene.evidence().gpu_query.exit_status = status;
        EXPECT_EQ(judge(scene).verdict, Verdict::unknown) << status;
    }
    Scene scene(8);
    fail_row(scene, 2);
    scene.evidence().gpu_query.timed_out = true;
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
}

TEST(SickGpu, WithACorruptedInforomHasValidRows) {
    Scene scene(2);
    scene.evidence().gpu_query.exit_status = 14;
    scene.evidence().messages.push_back(said("WARNING: infoROM is corrupted at gpu 0000:11:00.0"));
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_EQ(host.gpus[0].verdict, Verdict::clean);
    EXPECT_EQ(codes(host.gpus[1].findings), "inforom-corrupted:sick");
}

TEST(Failure, OfTheWholeCommandIsSaidOnceAndNotAsMissingGpus) {
    for (const int status : {2, 3, 4, 6, 8, 9, 10, 12, 13, 18, 126, 127, 255}) {
        Scene scene(2);
        scene.evidence().gpus.clear();
        scene.evidence().gpu_query.exit_status = scene.evidence().app_query.exit_status = status;
        scene.evidence().app_problems.emplace_back("as the GPU query said");
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown) << status;
        EXPECT_EQ(host.findings.size(), 1u) << codes(host.findings);
        ASSERT_EQ(host.gpus.size(), 2u) << status;
        EXPECT_EQ(codes(host.gpus[0].findings), "no-row:unknown") << status;
        EXPECT_EQ(host.gpus[0].findings[0].remedy, "") << status;
    }
}

TEST(Failure, OfTheGpuQueryDoesNotHideWhatTheOtherQuerySays) {
    Scene scene(1);
    scene.holder(812, 0, 500);
    scene.evidence().gpus.clear();
    scene.evidence().gpu_query.exit_status = 255;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    ASSERT_EQ(host.gpus.size(), 1u);
    EXPECT_EQ(host.gpus[0].holders.size() + host.openers.size(), 1u);
}

TEST(Apps, ALineOfNumbersAmongThemMayBeARowThatWasCut) {
    for (const auto* line : {"12", "843 928", "7 "}) {
        Scene scene(8);
        scene.evidence().app_problems.emplace_back(line);
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown) << line;
        EXPECT_NE(find(host.findings, "apps-unreadable"), nullptr) << line;
    }
}

// nvidia-smi named one of them, and which of the rows it is of cannot be told.
TEST(SickGpus, OfWhichOneIsNamedExplainTheStatusToo) {
    Scene scene(8);
    fail_row(scene, 2);
    fail_row(scene, 5);
    scene.evidence().gpu_query.exit_status = 255;
    scene.evidence().messages.push_back(
        said("Unable to determine the device handle for GPU 0000:12:00.0: Unknown Error"));
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_EQ(codes(host.findings), "gpu-unknown-error:sick");
    scene.evidence().gpus.erase(scene.evidence().gpus.begin());
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
}

TEST(Failure, ThatAMessageNamesTooIsSaidInItsWordsOnly) {
    struct Case {
        int status;
        std::string line, codes;
    };
    const std::vector<Case> cases{
        {9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
         "driver-not-loaded:unknown"},
        {18, "Failed to initialize NVML: Driver/library version mismatch", "driver-mismatch:unknown"},
        {4, "Failed to initialize NVML: Insufficient Permissions", "permission-refused:unknown"},
        {12, "Failed to initialize NVML: Driver/library version mismatch",
         "nvml-missing:unknown driver-mismatch:unknown"},
        {255, "what is this", "nvidia-smi-failed:unknown unrecognised-line:unknown"},
    };
    for (const auto& [status, line, expected] : cases) {
        Scene scene(2);
        scene.evidence().gpus.clear();
        scene.evidence().gpu_query.exit_status = scene.evidence().app_query.exit_status = status;
        scene.evidence().messages.push_back(said(line));
        EXPECT_EQ(codes(judge(scene).findings), expected) << status;
    }
}

TEST(SickGpus, WithoutNamesOfTheirOwnAreNotSaidToBeEachOther) {
    Scene scene(4);
    scene.evidence().gpu_query.exit_status = 255;
    scene.evidence().gpus.erase(scene.evidence().gpus.begin(), scene.evidence().gpus.begin() + 2);
    for (const auto* line : {"Unable to determine the device handle for GPU 0000:10:00.0: GPU requires reset",
                             "Unable to determine the device handle for GPU 0000:11:00.0: GPU is lost"})
        scene.evidence().messages.push_back(said(line));
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    for (const std::size_t gpu : {0, 1}) {
        ASSERT_EQ(codes(host.gpus[gpu].findings), "gpu-requires-reset:sick gpu-lost:sick");
        for (const auto& found : host.gpus[gpu].findings)
            EXPECT_TRUE(found.text.starts_with("of this GPU or of another without a name: Unable"))
                << found.text;
    }
    scene.evidence().messages.pop_back();
    scene.evidence().gpus.insert(scene.evidence().gpus.begin(), Scene(4).evidence().gpus[1]);
    EXPECT_TRUE(judge(scene).gpus[0].findings[0].text.starts_with("Unable"));
}

TEST(Apps, ProseAmongThemSaysWhichGpuIsSickBesideOneThatIsKnown) {
    for (const bool another : {false, true}) {
        Scene scene(4);
        if (another) scene.evidence().gpus[1].cells[5] = "[GPU requires reset]";
        scene.evidence().app_query.exit_status = another ? 255 : 0;
        scene.evidence().app_problems.emplace_back(
            "Unable to determine the device handle for GPU 0000:12:00.0: GPU is lost");
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::sick);
        EXPECT_EQ(codes(host.findings), "");
        EXPECT_EQ(codes(host.gpus[2].findings), "gpu-lost:sick");
        EXPECT_EQ(host.gpus[1].verdict, another ? Verdict::sick : Verdict::clean);
    }
    Scene unread(4);  // no other query has said so: that the list failed is not excused by itself
    unread.evidence().app_query.exit_status = 255;
    unread.evidence().app_problems.emplace_back(
        "Unable to determine the device handle for GPU 0000:12:00.0: GPU is lost");
    EXPECT_EQ(judge(unread).verdict, Verdict::unknown);
    EXPECT_EQ(judge(unread).gpus[2].verdict, Verdict::sick);
    Scene nameless(4);
    nameless.evidence().app_problems.emplace_back("GPU is lost");
    EXPECT_EQ(codes(judge(nameless).findings), "gpu-lost:sick");
    Scene name(4);
    name.evidence().app_problems.emplace_back("812, " + uuid_of(2) + ", Unknown Error");
    EXPECT_EQ(codes(judge(name).findings), "apps-unreadable:unknown");
}

TEST(Failure, ThatAMessageNamesForOneGpuIsSaidAtThatGpu) {
    const std::string of = "Unable to determine the device handle for GPU 0000:11:00.0: ";
    for (const auto& [text, code] : std::vector<std::pair<std::string, std::string>>{
             {of + "Not Found", "gpu-handle-failed"},
             {of + "Insufficient Permissions", "permission-refused"},
             {"something about GPU 0000:11:00.0", "unrecognised-line"}}) {
        Scene scene(3);
        scene.evidence().messages.push_back(said(text));
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown) << text;
        EXPECT_EQ(codes(host.findings), "") << text;
        EXPECT_EQ(host.gpus[0].verdict, Verdict::clean) << text;
        EXPECT_EQ(host.gpus[1].verdict, Verdict::unknown) << text;
        EXPECT_EQ(codes(host.gpus[1].findings), code + ":unknown") << text;
        EXPECT_EQ(host.gpus[1].findings.at(0).text, text);
        EXPECT_EQ(host.gpus[2].verdict, Verdict::clean) << text;
    }
}

// Wherever the message is said, it is said, and the host is no better for it.
TEST(Failure, ThatAMessageNamesForAGpuIsSaidAtTheHostWhereTheGpuCanNotSayIt) {
    const auto line = "Unable to determine the device handle for GPU 0000:11:00.0: Not Found";
    const auto unknown_at_host = [&](Scene& scene) {
        scene.evidence().messages.push_back(said(line));
        const auto host = judge(scene);
        return find(host.findings, "gpu-handle-failed") != nullptr;
    };
    Scene other(1);
    EXPECT_TRUE(unknown_at_host(other));
    EXPECT_EQ(judge(other).verdict, Verdict::unknown);
    Scene none(0);
    EXPECT_TRUE(unknown_at_host(none));
    EXPECT_EQ(judge(none).verdict, Verdict::unknown);
    Scene sick(2);
    sick.evidence().gpus[1].cells[5] = "[GPU requires reset]";
    EXPECT_TRUE(unknown_at_host(sick));
    // Without a row, and known to the kernel's driver only.
    Scene missing(3);
    missing.evidence().gpus.erase(missing.evidence().gpus.begin() + 1);
    missing.evidence().messages.push_back(said(line));
    Expectations expectations;
    expectations.gpus = 3;
    const auto host = agentless::judge(missing.evidence(), expectations);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    ASSERT_EQ(host.gpus.size(), 3u);
    EXPECT_EQ(codes(host.gpus[1].findings), "gpu-handle-failed:unknown no-row:unknown");
}

// It may as well be a message that is not known here: never clean, and no more than told where a holder
// speaks against the host already.
TEST(Apps, WhoseNameGoesOnAreNamedAndNeverClean) {
    Scene held(2);
    held.holder(812, 1, 500).evidence().app_name_rests.push_back({812, "x\xFF"});
    const auto dirty = judge(held);
    EXPECT_EQ(dirty.verdict, Verdict::dirty);
    EXPECT_EQ(codes(dirty.findings), "app-name-broken:note");
    EXPECT_NE(dirty.findings[0].text.find("pid 812"), std::string::npos);
    Scene guarded(2);
    guarded.daemon(90, "/usr/bin/nvidia-persistenced").evidence().app_name_rests.push_back({90, "x"});
    const auto unknown = judge(guarded);
    EXPECT_EQ(unknown.verdict, Verdict::unknown);
    EXPECT_EQ(codes(unknown.findings), "app-name-broken:unknown");
    EXPECT_NE(unknown.findings[0].remedy.find("clear the host"), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::agentless
