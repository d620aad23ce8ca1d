#include "controller/plan_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string plan_of(std::vector<HostOutcome> hosts) {
    Report report = report_of(std::move(hosts), "clear");
    report.dry_run = true;
    Page page(80, false);
    write_plan(page, report, false);
    return page.take();
}

TEST(Plan, ListsEachProcessOnceWithAllItsSignals) {
    EXPECT_THAT(plan_of({planned_host("gpu01")}),
                StartsWith("Plan of playbook clear:\n"
                           "gpu01 dirty, 1.2 s\n"
                           "    SIGNAL        PID USER      AGE GPUS     MIB COMMAND\n"
                           "    TERM,KILL     812 alice   3h10m 2      76107 sleep 100000\n"
                           "            keeps a dead process's memory through inherited descriptors\n"));
}

TEST(Plan, FoldsHostsWithNothingToDo) {
    const std::string plan = plan_of({clean_host("gpu01"), clean_host("gpu02"), planned_host("gpu03")});
    EXPECT_THAT(plan, HasSubstr("gpu[01-02] (2): nothing to do\n"));
    EXPECT_THAT(plan, Not(HasSubstr("gpu01 clean")));
}

TEST(Plan, NamesHostsThatHaveNone) {
    EXPECT_THAT(plan_of({unreachable_host("gpu01"), planned_host("gpu02")}),
                HasSubstr("gpu01 (1): no plan, will be left alone"));
}

TEST(Plan, AddsUpAProcessOnSeveralGpus) {
    HostOutcome host = planned_host("gpu01");
    for (const std::size_t index : {3u, 4u}) host.last->gpus[index].holders = host.last->gpus[2].holders;
    EXPECT_THAT(plan_of({host}), HasSubstr("812 alice   3h10m 2-4   228321 sleep"));
}

TEST(Plan, ShowsALauncherThatHoldsNoGpu) {
    HostOutcome host = planned_host("gpu01");
    Holder launcher = holder(700, "alice", "python launch.py");
    launcher.unit = "vllm.service";
    launcher.age_s.reset();
    host.signals.insert(host.signals.begin(), signal_action(1, "TERM", launcher, SignalResult::planned));
    EXPECT_THAT(plan_of({host}),
                HasSubstr("    TERM          700 alice       ? -          - python launch.py\n"
                          "            in vllm.service\n"));
}

TEST(Plan, GivesALongCommandLineLinesOfItsOwn) {
    HostOutcome host = planned_host("gpu01");
    host.signals[0].process.command =
        "python -m sglang.launch_server --model-path /models/llama --tp 8 --port 30000";
    EXPECT_THAT(plan_of({host}),
                HasSubstr("3h10m 2      76107 \n"
                          "            python -m sglang.launch_server --model-path /models/llama "
                          "--tp 8\n"
                          "            --port 30000\n"));
}

TEST(Plan, ShowsWhatIsSparedAndWhy) {
    HostOutcome host = planned_host("gpu01");
    host.spared = {{{345, 99}, "protected", "built-in: nvidia-persistenced"}};
    host.spared_holders = {holder(345, "root", "nvidia-persistenced")};
    EXPECT_THAT(plan_of({host}), HasSubstr("    left alone: pid 345 root S, 3h10m: nvidia-persistenced\n"
                                           "        protected: built-in: nvidia-persistenced\n"));
}

TEST(Plan, ShowsCommandsWholeAndMasked) {
    HostOutcome host = planned_host("gpu01");
    CommandAction& command = host.commands.emplace_back();
    command.planned = true;
    command.step = 3;
    command.command = "systemctl stop " + std::string(100, 'x') + " --api-key geheim";
    const std::string plan = plan_of({host});
    EXPECT_THAT(plan, HasSubstr("    step 3 runs: systemctl stop " + std::string(100, 'x') + " --api-key "));
    EXPECT_THAT(plan, Not(HasSubstr("geheim")));
}

TEST(PlanSize, CountsProcessesAndNotSignals) {
    HostOutcome with_command = clean_host("gpu02");
    with_command.commands.emplace_back().planned = true;
    const PlanSize size = size_of_plan({planned_host("gpu01"), with_command, clean_host("gpu03")});
    EXPECT_EQ(size.hosts, 2u);
    EXPECT_EQ(size.processes, 1u);
    EXPECT_EQ(size.commands, 1u);
}

TEST(Question, SaysHowMuchIsAsked) {
    EXPECT_EQ(question_for({1, 1, 0}), "Signal 1 process on 1 host?");
    EXPECT_EQ(question_for({3, 12, 0}), "Signal 12 processes on 3 hosts?");
    EXPECT_EQ(question_for({3, 12, 1}), "Signal 12 processes and run 1 command on 3 hosts?");
    EXPECT_EQ(question_for({2, 0, 2}), "Run 2 commands on 2 hosts?");
}

}  // namespace
}  // namespace cleanslate::controller::testing
