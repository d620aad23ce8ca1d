#include "controller/plan_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Kind = CommandAction::Kind;

std::string steps_of(const HostOutcome& host) {
    Page page(80, false);
    write_plan_steps(page, host, false);
    return page.take();
}

// Hosts whose plan is that of planned_host, with `count` processes in each of its two steps.
HostOutcome host_with(std::size_t first, std::size_t second) {
    HostOutcome host = clean_host("gpu01");
    for (std::size_t step = 1; step <= 2; ++step) {
        PlannedStep& planned = host.plan_steps.emplace_back();
        planned.step = static_cast<int>(step);
        planned.name = step == 1 ? "TERM" : "KILL";
        for (std::size_t i = 0; i < (step == 1 ? first : second); ++i) {
            const Holder process = holder(static_cast<Pid>(100 + i), "alice", "work");
            planned.targets.push_back(process.key);
            host.signals.push_back(
                signal_action(static_cast<int>(step), planned.name, process, SignalResult::planned));
        }
    }
    return host;
}

TEST(PlanSteps, DoNotRepeatWhoIsListedAbove) {
    const std::string steps = steps_of(host_with(3, 3));
    EXPECT_THAT(steps, StartsWith("    step 1 TERM: 3 processes\n"));
    EXPECT_THAT(steps, ::testing::EndsWith("    step 2 KILL: the same 3, if they are still there\n"));
    EXPECT_THAT(steps_of(host_with(3, 5)),
                HasSubstr("step 2 KILL: 2 more, and the same 3, if they are still"));
    EXPECT_THAT(steps_of(host_with(3, 2)),
                HasSubstr("step 2 KILL: 2 of those above, if they are still there"));
    EXPECT_THAT(steps_of(host_with(0, 2)), StartsWith("    step 1 TERM: nothing to do now\n"
                                                      "    step 2 KILL: 2 processes\n"));
}

TEST(PlanSteps, NameEachActWhole) {
    HostOutcome host = clean_host("gpu01");
    const std::string longer = "check-drained " + std::string(100, 'x') + " --api-key geheim";
    plan_act(host, act(Kind::before, 1, longer));
    plan_act(host, act(Kind::stop, 2, "systemctl stop vllm.service", "supervisor of 812 (holding gpu)"));
    plan_act(host, act(Kind::run, 3, "sync"));
    plan_act(host, act(Kind::reset, 4, "nvidia-smi --gpu-reset -i 00000000:19:00.0", "GPU 3: sick"));
    plan_act(host, act(Kind::clean_shm, 5, "/dev/shm/nccl-1", "3 MiB of alice, 2 h old"));
    plan_act(host, act(Kind::reboot, 6, "reboot"));
    plan_act(host, act(Kind::after, 7, "mark"));
    const std::string steps = steps_of(host);
    EXPECT_THAT(
        steps,
        HasSubstr("    step 1 before\n        runs before the first step:\n            check-drained"));
    EXPECT_THAT(steps, Not(::testing::ContainsRegex("[^\n]{81}")));
    EXPECT_EQ(std::ranges::count(steps, 'x'), 100) << "never cut";
    EXPECT_THAT(steps, Not(HasSubstr("geheim")));
    EXPECT_THAT(steps, HasSubstr("        stops: systemctl stop vllm.service\n"
                                 "            supervisor of 812 (holding gpu)\n"));
    EXPECT_THAT(steps, HasSubstr("        runs: sync\n"));
    EXPECT_THAT(steps, HasSubstr("        resets: nvidia-smi --gpu-reset -i 00000000:19:00.0\n"
                                 "            GPU 3: sick\n"));
    EXPECT_THAT(steps, HasSubstr("        removes: /dev/shm/nccl-1\n            3 MiB of alice, 2 h old\n"));
    EXPECT_THAT(steps, HasSubstr("        reboots, if the host is not clean by then: reboot\n"));
    EXPECT_THAT(steps, HasSubstr("        runs at the end: mark\n"));
}

TEST(PlanSteps, FoldManyFiles) {
    HostOutcome host = clean_host("gpu01");
    for (int i = 0; i < 25; ++i)
        plan_act(host, act(Kind::clean_shm, 1, "/dev/shm/nccl-" + std::to_string(i))).bytes = 1u << 20;
    const std::string steps = steps_of(host);
    EXPECT_THAT(steps,
                HasSubstr("removes: /dev/shm/nccl-9\n        and 15 more, in all 25 files (25 MiB)\n"));
    EXPECT_THAT(steps, Not(HasSubstr("nccl-10")));
}

TEST(PlanSteps, SayWhatWouldBeDoneOnlyWhereItIsStillNeeded) {
    HostOutcome host = clean_host("gpu01");
    plan_act(host, act(Kind::reset, 1, "nvidia-smi --gpu-reset -i 0", "only if ...")).conditional = true;
    plan_act(host, act(Kind::reboot, 2, "reboot", "only if ...")).conditional = true;
    const std::string steps = steps_of(host);
    EXPECT_THAT(steps,
                HasSubstr("        perhaps resets: nvidia-smi --gpu-reset -i 0\n            only if ...\n"));
    EXPECT_THAT(steps, HasSubstr("        perhaps reboots: reboot\n            only if ...\n"));
}

TEST(PlanSteps, ListFilesThatAreWithheldWithTheirSizes) {
    HostOutcome host = clean_host("gpu01");
    plan_act(host, act(Kind::clean_shm, 1, "rm /dev/shm/a", "3 MiB of bob")).withheld = true;
    host.plan_steps[0].notes = {"would be withheld: /dev/shm/b: open"};
    EXPECT_THAT(steps_of(host),
                HasSubstr("        would be withheld: rm /dev/shm/a\n            3 MiB of bob\n"));
}

TEST(PlanSteps, SayWhatIsWithheldAndWhyOnce) {
    HostOutcome host = clean_host("gpu01");
    plan_act(host, act(Kind::reboot, 1, "reboot", "--allow-reboot was not given")).withheld = true;
    EXPECT_EQ(steps_of(host),
              "    step 1 reboot\n"
              "        would be withheld: reboot\n"
              "            --allow-reboot was not given\n");
    host.plan_steps[0].notes = {"would be withheld: the host: --allow-reboot was not given"};
    EXPECT_EQ(steps_of(host),
              "    step 1 reboot\n"
              "        would be withheld: the host: --allow-reboot was not given\n");
}

TEST(PlanSteps, SayWhoIsLeftAloneByWhichStep) {
    HostOutcome host = clean_host("gpu01");
    PlannedStep& step = host.plan_steps.emplace_back();
    step.step = 1;
    step.name = "TERM";
    step.spared = {{{345, 9}, "protected", "built-in: nvidia-persistenced"},
                   {{900, 9}, "not-permitted", "of bob"}};
    EXPECT_THAT(steps_of(host),
                HasSubstr("        leaves alone: pid 345 (protected), pid 900 (not-permitted)\n"));
    for (int i = 0; i < 20; ++i) step.spared.push_back({{1000 + i, 9}, "other-gpu", ""});
    EXPECT_THAT(steps_of(host), HasSubstr(" and 12 more\n"));
}

TEST(PlanSteps, ListWhomALimitKeepsFromBeingSignalled) {
    HostOutcome host = host_with(3, 0);
    host.signals.clear();
    host.plan_steps[0].notes = {"would be withheld: more processes than may be signalled on a host"};
    const std::string steps = steps_of(host);
    EXPECT_THAT(steps, StartsWith("    step 1 TERM: 3 processes\n"));
    EXPECT_THAT(steps, HasSubstr("\n            102 "));
    EXPECT_THAT(steps,
                HasSubstr("        would be withheld: more processes than may be signalled on a host\n"));
}

TEST(PlanSteps, HideNothingThatWouldBeDoneThoughNoStepNamesIt) {
    HostOutcome host = planned_host("gpu01");
    host.plan_steps.clear();
    CommandAction stray = act(Kind::run, 3, "rm -rf /scratch");
    stray.planned = true;
    host.commands.push_back(stray);
    const std::string steps = steps_of(host);
    EXPECT_THAT(steps, HasSubstr("step 1 TERM: 1 process\n"));
    EXPECT_THAT(steps, HasSubstr("812 alice"));
    EXPECT_THAT(steps, HasSubstr("step 2 KILL: the same 1, if it is still there\n"));
    EXPECT_THAT(steps, HasSubstr("    step 3 run\n        runs: rm -rf /scratch\n"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
