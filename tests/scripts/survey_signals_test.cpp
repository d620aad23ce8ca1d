// A login may ignore signals, and a shell cannot have a handler for one that was ignored when it began.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

Runner ignoring(Runner runner, const std::string& signals) {
    std::string shell;
    for (const auto& word : runner.shell) shell += " " + word;
    runner.shell = {"/bin/sh", "-c", fmt::format("trap '' {}; exec{}", signals, shell)};
    return runner;
}

class SurveyOfADeafLogin : public SurveyScript {};
INSTANTIATE_TEST_SUITE_P(Shells, SurveyOfADeafLogin, ::testing::ValuesIn(all_shells()), name_of);

TEST_P(SurveyOfADeafLogin, EndsWhenAllIsRead) {
    for (const std::string signals : {"USR1", "USR2", "USR1 USR2", "USR1 USR2 VTALRM PROF"}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi();
            host.run(ignoring(GetParam(), signals), survey_script(usual(), nonce), out);
        });
        const auto evidence = read(seen);
        EXPECT_TRUE(evidence.complete) << signals;
        EXPECT_THAT(evidence.cuts, IsEmpty()) << signals;
        EXPECT_THAT(evidence.missing_tools, IsEmpty()) << signals;
        EXPECT_TRUE(evidence.holders_visible) << signals;
        EXPECT_LT(seen.milliseconds, 15'000) << signals << ": before the budget";
    }
}

TEST_P(SurveyOfADeafLogin, EndsAnNvidiaSmiThatDoesNotAnswer) {
    for (const std::string signals : {"USR1", "USR1 USR2"}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi("sleep 1000");
            host.run(ignoring(GetParam(), signals), survey_script(hasty(20'000), nonce), out);
            out.ids["left"] = host.left();
        });
        const auto evidence = read(seen);
        EXPECT_TRUE(evidence.complete) << signals;
        EXPECT_TRUE(evidence.gpu_query.timed_out) << signals;
        EXPECT_THAT(evidence.cuts, IsEmpty()) << signals;
        EXPECT_EQ(seen.ids.at("left"), 0) << signals;
        EXPECT_LT(seen.milliseconds, 15'000) << signals;
    }
}

TEST_P(SurveyOfADeafLogin, SaysThatItIgnoresAllOfThem) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.run(ignoring(GetParam(), "USR1 USR2 VTALRM PROF XCPU XFSZ"), survey_script(hasty(3'000), nonce),
                 out);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_THAT(evidence.missing_tools, ElementsAre("a signal that this login does not ignore"));
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
