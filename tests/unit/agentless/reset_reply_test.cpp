// What nvidia-smi and systemctl answer to a reset, as findings.

#include "agentless/reset_reply.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless {
namespace {

std::string code_of(std::optional<int> status, const std::string& text) {
    const auto found = finding_of_reset({"00000000:17:00.0", status, text}, 3);
    return found ? found->code : "";
}

TEST(ResetReply, OfAGpuThatWasResetIsNoFinding) {
    EXPECT_EQ(code_of(0, "GPU 00000000:17:00.0 was successfully reset.\nAll done.\n"), "");
    EXPECT_EQ(code_of(0, ""), "");
}

TEST(ResetReply, NamesEachRefusal) {
    EXPECT_EQ(code_of(255,
                      "The following GPUs could not be reset:\n  GPU 00000000:17:00.0: In use by another "
                      "client\n\n1 device is currently being used by one or more other processes (e.g. "
                      "Fabric\nManager, CUDA application"),
              "reset-in-use");
    EXPECT_EQ(code_of(255, "GPU 00000000:17:00.0 is currently in use by another process.\n"), "reset-in-use");
    EXPECT_EQ(code_of(3,
                      "Unable to reset this GPU because it's being used by some other process (e.g. CUDA "
                      "application, graphics application like X server, monitoring application like other "
                      "instance of nvidia-smi). Please first kill all processes using this GPU"),
              "reset-in-use");
    EXPECT_EQ(code_of(3, "GPU Reset couldn't run because GPU 00000000:17:00.0 is the primary GPU.\n"),
              "reset-unsupported");
    EXPECT_EQ(code_of(3, "Resetting GPU 00000000:17:00.0 is not supported.\n"), "reset-unsupported");
    EXPECT_EQ(code_of(4, "Unable to reset GPU 00000000:17:00.0: Insufficient Permissions\n"),
              "reset-not-permitted");
    EXPECT_EQ(code_of(4, ""), "reset-not-permitted");
    EXPECT_EQ(code_of(255, "GPU 00000000:17:00.0: Unknown Error\n"), "reset-failed");
    EXPECT_EQ(code_of(15, ""), "reset-failed");
}

TEST(ResetReply, BelievesARefusalBeforeAStatus) {
    EXPECT_EQ(code_of(0, "GPU 00000000:17:00.0: In use by another client\n"), "reset-in-use");
    EXPECT_EQ(code_of(0, "The following GPUs could not be reset:\n"), "reset-failed");
}

TEST(ResetReply, ThatNeverCameIsAFailure) {
    EXPECT_EQ(code_of(std::nullopt, ""), "reset-failed");
    EXPECT_EQ(code_of(std::nullopt, "GPU 00000000:17:00.0 was successfully reset."), "reset-failed");
}

TEST(ResetReply, NamesTheGpuTheCauseAndTheRemedy) {
    const auto found =
        finding_of_reset({"00000000:17:00.0", 255, "\x1b[31m In use by\n another client \n"}, 3);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::note);
    EXPECT_EQ(found->text,
              "GPU 3: nvidia-smi --gpu-reset ended with status 255: \\x1B[31m In use by another "
              "client");
    EXPECT_EQ(found->remedy, "name the unit that holds it under `daemons` of the step; else reboot");
    EXPECT_EQ(finding_of_reset({"00000000:17:00.0", std::nullopt, ""}, std::nullopt)->text,
              "GPU 00000000:17:00.0: nvidia-smi --gpu-reset was not seen to end");
    EXPECT_LE(finding_of_reset({"00000000:17:00.0", 1, std::string(2000, 'x')}, 3)->text.size(), 400U);
}

TEST(DaemonReply, NamesEachThatRanAndWasNotSeenToStartAgain) {
    ResetReport report;
    report.units = {{"nvidia-persistenced.service", true, 0, 0},
                    {"nvidia-fabricmanager.service", true, 0, 1},
                    {"dcgm.service", true, 0, std::nullopt},
                    {"idle.service", false, std::nullopt, std::nullopt}};
    const auto findings = findings_of_daemons(report);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].code, "daemon-not-restarted");
    EXPECT_EQ(findings[0].severity, Severity::unknown);
    EXPECT_EQ(findings[0].text,
              "nvidia-fabricmanager.service ran before the reset, and systemctl start ended with status 1");
    EXPECT_EQ(findings[1].text, "dcgm.service ran before the reset, and systemctl start gave no answer");
}

}  // namespace
}  // namespace cleanslate::agentless
