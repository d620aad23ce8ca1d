// What a survey costs the host that it looks at, and that what makes it cheap is not believed blindly.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <fstream>
#include <functional>

#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless::survey_tests {
namespace {

using cleanslate::testing::all_shells;
using cleanslate::testing::inside;
using cleanslate::testing::Runner;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SurveyCost : public SurveyScript {};
INSTANTIATE_TEST_SUITE_P(Shells, SurveyCost, ::testing::ValuesIn(all_shells()), name_of);

// Answers, and starts nothing; each that begins leaves a line.
const char* const nvidia_smi =
    "#!/bin/sh\n"
    "echo $1 >>/run/asked\n"
    "case $* in\n"
    "*memory.used*) echo '0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, 0 MiB, 143771 MiB, "
    "30, "
    "P0, NVIDIA H200' ;;\n"
    "esac\n";

int lines_of(const std::string& path) {
    std::ifstream in(path);
    int lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    return lines;
}

TEST_P(SurveyCost, IsAtMostSeventeenProcessesOnAnIdleHost) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.device("nvidia0");
        host.device("nvidiactl");
        host.file("/opt/bin/nvidia-smi", nvidia_smi);
        host.file("/proc/driver/nvidia/gpus/0000:00:06.0/information",
                  "GPU UUID: \t GPU-00000000-1111-2222-3333-444444444444\nDevice Minor: \t 0\n");
        host.run(GetParam(), survey_script(usual(), nonce), out);
        out.ids["left"] = host.left();
        // Pids are given one after the other.
        out.ids["started"] = host.process([] {}) - out.ids["shell"] - 1;
        out.ids["asked"] = lines_of("/run/asked");
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_TRUE(evidence.holders_visible);
    EXPECT_EQ(seen.ids.at("left"), 0);
    EXPECT_EQ(seen.ids.at("asked"), 4) << "the core, compute-apps and optional queries, and the list";
    EXPECT_LE(seen.ids.at("started") - seen.ids.at("asked"), 17) << "without nvidia-smi itself";
    EXPECT_GT(seen.ids.at("started") - seen.ids.at("asked"), 5) << "they are counted";
}

// Of a nvidia-smi that runs `hang` and does not answer in time.
void expect_nothing_left(
    const Runner& runner, const std::string& hang,
    const std::function<std::string(std::string)>& change = [](std::string script) { return script; }) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi(hang);
        host.hide("timeout");
        host.process([] { ::prctl(PR_SET_NAME, "a) S 1\n9 (b"); });
        host.run(runner, change(survey_script(hasty(20'000), nonce)), out);
        out.ids["left"] = host.left(1);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_TRUE(evidence.gpu_query.timed_out);
    EXPECT_THAT(evidence.cuts, IsEmpty());
    EXPECT_EQ(seen.ids.at("left"), 1) << "only the bystander";
    EXPECT_LT(seen.milliseconds, 15'000);
}

TEST_P(SurveyCost, LeavesNothingBehindOfAnNvidiaSmiThatHasStartedOthers) {
    expect_nothing_left(GetParam(), "sleep 1000 &\n(sleep 1001; :) &\nsleep 1002");
}

TEST_P(SurveyCost, LeavesNothingBehindOfAnNvidiaSmiWhoseChildrenOutliveItsOwnEnd) {
    expect_nothing_left(GetParam(), "(trap '' TERM; exec sleep 1000) &\nsleep 1001");
}

TEST_P(SurveyCost, LeavesNothingBehindWhereTheKernelListsNoChildren) {
    expect_nothing_left(GetParam(), "(trap '' TERM; exec sleep 1000) &\n(sleep 1001; :) &\nsleep 1002",
                        [](std::string script) {
                            const std::string list = "/children";
                            for (auto at = script.find(list); at != std::string::npos;
                                 at = script.find(list, at))
                                script.replace(at, list.size(), "/nothing");
                            return script;
                        });
}

class SurveyGrep : public ::testing::Test {
  protected:
    void SetUp() override { SKIP_WITHOUT_SANDBOX(); }
    const Runner sh{"sh", {"/bin/sh", "-c", "PATH=/run/tools:$PATH exec /bin/sh -s"}, ""};
};

TEST_F(SurveyGrep, IsNotBelievedAboutMapsWhereItDoesNotSayWhatItCouldNotRead) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.file("/run/tools/grep", "#!/bin/sh\nexec /bin/grep \"$@\" 2>/dev/null\n");
        host.run(sh, survey_script(usual(), nonce), out, 65534);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_GT(evidence.unreadable, 0u);
    EXPECT_FALSE(evidence.holders_visible);
    EXPECT_FALSE(process(evidence, 1).maps_readable);
}

TEST_F(SurveyGrep, IsNotNeededToSeeWhoHasADeviceFileMapped) {
    for (const std::string grep : {"exit 2", "echo other; exit 0", "kill -s KILL $$"}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi();
            host.device("nvidia0");
            out.ids["mapper"] = host.process([] { open_file("/dev/nvidia0", true); });
            host.file("/run/tools/grep", "#!/bin/sh\n" + grep + "\n");
            host.run(sh, survey_script(usual(), nonce), out);
        });
        const auto evidence = read(seen);
        EXPECT_TRUE(evidence.complete) << grep;
        EXPECT_THAT(evidence.cuts, IsEmpty()) << grep;
        EXPECT_TRUE(evidence.holders_visible) << grep;
        EXPECT_THAT(process(evidence, seen.ids.at("mapper")).mapped_minors, ElementsAre(0)) << grep;
    }
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
