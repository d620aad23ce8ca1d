#include "controller/plan_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string table_of(const HostOutcome& host, const std::vector<Holder>& processes) {
    Page page(80, false);
    write_process_table(page, 4, host, processes);
    return page.take();
}

TEST(ProcessTable, AddsUpAProcessOnSeveralGpus) {
    HostOutcome host = planned_host("gpu01");
    for (const std::size_t index : {3u, 4u}) host.last->gpus[index].holders = host.last->gpus[2].holders;
    EXPECT_THAT(table_of(host, processes_of(host, {host.signals[0].process.key})),
                HasSubstr("812 alice   3h10m 2-4   228321 sleep"));
}

TEST(ProcessTable, ShowsALauncherThatHoldsNoGpu) {
    Holder launcher = holder(700, "alice", "python launch.py");
    launcher.unit = "vllm.service";
    launcher.age_s.reset();
    EXPECT_THAT(table_of(planned_host("gpu01"), {launcher}),
                HasSubstr("        700 alice       ? -          - python launch.py\n"
                          "            in vllm.service\n"));
}

TEST(ProcessTable, GivesALongCommandLineLinesOfItsOwn) {
    const Holder server = holder(
        812, "alice",
        "python -m sglang.launch_server --model-path /models/llama --tp 8 --port 30000 --host 0.0.0.0");
    EXPECT_THAT(table_of(clean_host("gpu01"), {server}),
                HasSubstr("3h10m -          -\n"
                          "            python -m sglang.launch_server --model-path /models/llama --tp 8\n"
                          "            --port 30000 --host 0.0.0.0\n"));
}

TEST(ProcessTable, LetsNoHostileTextSteerTheTerminal) {
    const Holder hostile = holder(7, "al\x1b[2Jice",
                                  "python\n    step 2 KILL: \x9b"
                                  "31m");
    const std::string table = table_of(clean_host("gpu01"), {hostile});
    EXPECT_THAT(table, Not(HasSubstr("\x1b")));
    EXPECT_THAT(table, Not(HasSubstr("\n    step")));
}

TEST(ProcessTable, KnowsWhatTheSurveySaysOfWhoIsNotSignalled) {
    HostOutcome host = dirty_host("gpu01");
    host.last->openers.push_back(holder(900, "bob", "nvtop"));
    const auto processes = processes_of(host, {{812, 5812}, {900, 5900}, {7, 1}});
    ASSERT_EQ(processes.size(), 3u);
    EXPECT_EQ(processes[0].user, "alice");
    EXPECT_EQ(processes[1].command, "nvtop");
    EXPECT_EQ(processes[2].key.pid, 7);
    EXPECT_THAT(table_of(host, processes), HasSubstr("(command line not seen)"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
