// What a survey says of itself: what it may not see, what is not there, and how nvidia-smi ended.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless::survey_tests {
namespace {

using cleanslate::testing::all_shells;
using cleanslate::testing::all_tools;
using cleanslate::testing::inside;
using cleanslate::testing::Runner;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(Survey, SaysThatAnOrdinaryUserSeesNoOthersProcesses) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia0");
        out.ids["worker"] = host.process([] { open_file("/dev/nvidia0"); });
        host.run(sh, survey_script(usual(), nonce), out, 65534);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_FALSE(evidence.root);
    EXPECT_EQ(evidence.uid, 65534u);
    EXPECT_GT(evidence.unreadable, 0u);
    EXPECT_FALSE(evidence.holders_visible);
    EXPECT_EQ(evidence.find(seen.ids.at("worker")), nullptr);
    EXPECT_EQ(evidence.gpu_query.exit_status, 0);
    const auto& shell = process(evidence, seen.ids.at("shell"));
    EXPECT_TRUE(shell.host_mount_ns);
    EXPECT_FALSE(process(evidence, 1).fds_readable);
}

TEST_F(Survey, SaysThatAContainersOwnProcHidesOthers) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        ::kill(2, SIGKILL);
        while (Sandbox::state_of(2) != 'Z') ::usleep(1000);
        ::waitpid(2, nullptr, 0);
        host.run(sh, survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.proc_hides_others);
    EXPECT_FALSE(evidence.holders_visible);
}

TEST_F(Survey, SaysThatHidepidHidesOthers) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        if (::mount("proc", "/proc", "proc", MS_REMOUNT, "hidepid=2") != 0)
            throw std::runtime_error("hidepid");
        host.run(sh, survey_script(usual(), nonce), out, 65534);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_TRUE(evidence.proc_hides_others);
    EXPECT_FALSE(evidence.holders_visible);
    EXPECT_EQ(evidence.gpu_query.exit_status, 0);
}

TEST_F(Survey, NamesAMissingNvidiaSmiAndMissingTools) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.hide("mawk");
        host.hide("gawk");
        host.hide("original-awk");
        host.hide("tr");
        host.run(sh, survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_THAT(evidence.missing_tools, ElementsAre("tr", "awk"));
    EXPECT_FALSE(evidence.holders_visible);
    EXPECT_FALSE(evidence.gpu_query.exit_status.has_value());
    EXPECT_LT(seen.milliseconds, 4'000);
}

TEST_F(Survey, ReportsAnExitStatusAndLinesThatAreNoRows) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.file("/opt/bin/nvidia-smi",
                  "#!/bin/sh\necho 'Failed to initialize NVML: Driver/library version mismatch'\nexit 18\n");
        host.run(sh, survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_EQ(evidence.gpu_query.exit_status, 18);
    ASSERT_EQ(evidence.messages.size(), 1u);
    EXPECT_THAT(evidence.messages[0].text, ::testing::HasSubstr("version mismatch"));
}

TEST_F(Survey, FindsTheHolderAmongThousandsOfDescriptors) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia0");
        out.ids["worker"] = host.process([] {
            for (int i = 0; i < 900; ++i) open_file("/dev/nvidia0");
            for (int i = 0; i < 100; ++i) open_file("/dev/null");
        });
        host.run(sh, survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_THAT(process(evidence, seen.ids.at("worker")).open_minors, ElementsAre(0));
    EXPECT_LT(seen.out.size(), 20'000u);
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
