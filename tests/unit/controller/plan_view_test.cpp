#include "controller/plan_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Kind = CommandAction::Kind;

std::string plan_of(std::vector<HostOutcome> hosts) {
    Report report = report_of(std::move(hosts), "clear");
    report.dry_run = true;
    Page page(80, false);
    write_plan(page, report, false);
    return page.take();
}

TEST(Plan, SaysForEachStepWhatItWouldChooseNow) {
    EXPECT_THAT(plan_of({planned_host("gpu01")}),
                StartsWith("Plan of playbook clear:\n"
                           "gpu01 dirty, 1.2 s\n"
                           "    step 1 TERM holders: 1 process\n"
                           "            PID USER      AGE GPUS     MIB COMMAND\n"
                           "            812 alice   3h10m 2      76107 sleep 100000\n"
                           "                keeps a dead process's memory through inherited descriptors\n"
                           "    step 2 KILL holders: the same 1, if it is still there\n"
                           "    step 3 verify: nothing to do now\n"));
}

TEST(Plan, FoldsHostsWithNothingToDo) {
    const std::string plan = plan_of({clean_host("gpu01"), clean_host("gpu02"), planned_host("gpu03")});
    EXPECT_THAT(plan, HasSubstr("gpu[01-02] (2): nothing to do\n"));
    EXPECT_THAT(plan, Not(HasSubstr("gpu01 clean")));
}

TEST(Plan, SaysWhyAHostThatIsNotCleanIsLeftAsItIs) {
    HostOutcome host = dirty_host("gpu01");
    host.findings = {{Severity::dirty, "too-many-targets", "2 processes would be signalled", ""}};
    host.spared = {{{812, 5812}, "scheduled-job", "it runs in Slurm job 42"}};
    host.spared_holders = {host.last->gpus[2].holders[0]};
    const std::string plan = plan_of({host, clean_host("gpu02"), planned_host("gpu03")});
    EXPECT_THAT(plan, HasSubstr("gpu02 (1): nothing to do\n"));
    EXPECT_THAT(plan,
                HasSubstr("gpu01 dirty: nothing to do\n"
                          "    GPU 2 dirty: memory-in-use: 76107 MiB used, the limit is 100 MiB\n"
                          "    too-many-targets: 2 processes would be signalled\n"
                          "    leaves alone: pid 812 alice S, 3h10m, 76107 MiB: scheduled-job: it runs in\n"
                          "    Slurm job 42\n"));
}

TEST(Plan, FoldsCleanHostsOnWhichTheSameWouldBeDone) {
    std::vector<HostOutcome> hosts;
    for (const char* name : {"gpu01", "gpu02", "gpu03"}) {
        hosts.push_back(clean_host(name));
        plan_act(hosts.back(),
                 act(Kind::after, 4, name == std::string("gpu03") ? "other" : "touch /run/marker"));
    }
    const std::string plan = plan_of(hosts);
    EXPECT_THAT(plan, HasSubstr("gpu[01-02] (2) clean, at most 1.2 s\n"
                                "    step 4 after\n"
                                "        runs at the end: touch /run/marker\n"));
    EXPECT_THAT(plan, HasSubstr("gpu03 clean, 1.2 s\n"));
}

TEST(Plan, NamesHostsThatHaveNone) {
    EXPECT_THAT(plan_of({unreachable_host("gpu01"), planned_host("gpu02")}),
                HasSubstr("gpu01 (1): no plan, will be left alone"));
}

TEST(Plan, ShowsWhatIsSparedAndWhy) {
    HostOutcome host = planned_host("gpu01");
    host.spared = {{{345, 99}, "protected", "built-in: nvidia-persistenced"}};
    host.spared_holders = {holder(345, "root", "nvidia-persistenced")};
    EXPECT_THAT(plan_of({host}), HasSubstr("    left alone: pid 345 root S, 3h10m: nvidia-persistenced\n"
                                           "        protected: built-in: nvidia-persistenced\n"));
}

TEST(PlanSize, CountsProcessesAndNotSignals) {
    HostOutcome with_command = clean_host("gpu02");
    with_command.commands.emplace_back().planned = true;
    const PlanSize size = size_of_plan({planned_host("gpu01"), with_command, clean_host("gpu03")});
    EXPECT_EQ(size.hosts, 2u);
    EXPECT_EQ(size.processes, 1u);
    EXPECT_EQ(size.commands, 1u);
}

TEST(PlanSize, CountsWhatElseWouldBeDoneAndNotWhatIsWithheld) {
    HostOutcome host = clean_host("gpu01");
    plan_act(host, act(Kind::before, 1, "true"));
    plan_act(host, act(Kind::stop, 2, "systemctl stop a.service"));
    plan_act(host, act(Kind::reset, 3, "nvidia-smi --gpu-reset -i 0"));
    plan_act(host, act(Kind::reset, 3, "nvidia-smi --gpu-reset -i 1")).withheld = true;
    plan_act(host, act(Kind::clean_shm, 4, "/dev/shm/a")).bytes = 3u << 20;
    plan_act(host, act(Kind::clean_shm, 4, "/dev/shm/b")).bytes = 9u << 20;
    plan_act(host, act(Kind::reboot, 5, "reboot"));
    const std::vector<HostOutcome> hosts{host};
    const PlanSize size = size_of_plan(hosts);
    EXPECT_EQ(size.commands, 1u);
    EXPECT_EQ(size.stops, 1u);
    EXPECT_EQ(size.resets, 1u);
    EXPECT_EQ(size.files.size(), 2u);
    EXPECT_EQ(size.reboots, 1u);
    EXPECT_EQ(
        question_for(size),
        "Stop 1 supervisor, reset 1 GPU, remove 2 files (12 MiB) and run 1 command on 1 host, and reboot 1 "
        "of them?");
}

TEST(HasPlan, IsForEveryKindOfActThatIsNotWithheld) {
    for (const Kind kind :
         {Kind::run, Kind::before, Kind::after, Kind::stop, Kind::reset, Kind::clean_shm, Kind::reboot}) {
        HostOutcome host = clean_host("gpu01");
        plan_act(host, act(kind, 1, "x"));
        EXPECT_TRUE(has_plan(host));
        EXPECT_EQ(size_of_plan({host}).hosts, 1u);
        host.commands[0].withheld = true;
        EXPECT_FALSE(has_plan(host));
        EXPECT_EQ(size_of_plan({host}).hosts, 0u);
    }
}

TEST(Question, SaysHowMuchIsAsked) {
    EXPECT_EQ(question_for({.hosts = 1, .processes = 1}), "Signal 1 process on 1 host?");
    EXPECT_EQ(question_for({.hosts = 3, .processes = 12}), "Signal 12 processes on 3 hosts?");
    EXPECT_EQ(question_for({.hosts = 3, .processes = 12, .commands = 1}),
              "Signal 12 processes and run 1 command on 3 hosts?");
    EXPECT_EQ(question_for({.hosts = 2, .commands = 2}), "Run 2 commands on 2 hosts?");
    EXPECT_EQ(question_for({.hosts = 2, .reboots = 2}), "Reboot 2 hosts?");
    EXPECT_EQ(question_for({.hosts = 1, .processes = 1, .perhaps_resets = 1, .perhaps_reboots = 1}),
              "Signal 1 process on 1 host, and perhaps reset 1 GPU and reboot 1 host?");
}

}  // namespace
}  // namespace cleanslate::controller::testing
