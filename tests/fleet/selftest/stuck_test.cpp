// Processes that the kernel does not let go, and processes that cannot be looked at.

#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "tests/fleet/selftest/running_fleet.hpp"

namespace cleanslate::simulated {
namespace {

using testing::HasSubstr;

// Starts a command there, waits until it is in state D, kills it, and says in which state it is then: empty
// where it is gone.
std::string state_after_kill(const RunningFleet& fleet, const std::string& host, const std::string& command) {
    return fleet
        .on(host, command +
                      " >/dev/null 2>&1 & pid=$!; "
                      "while ! grep -q ') D ' /proc/$pid/stat; do [ -e /proc/$pid ] || exit; done; "
                      // Until whoever wants to keep it has done so, where anybody does.
                      "n=0; while [ $n -lt 40 ] && ! grep -q ':freezer:/frozen' /proc/$pid/cgroup; do "
                      "sleep 0.05; n=$((n + 1)); done; "
                      "kill -KILL $pid; n=0; "
                      "while [ $n -lt 20 ] && [ -e /proc/$pid ]; do sleep 0.01; n=$((n + 1)); done; "
                      "[ ! -e /proc/$pid ] || sed 's/.*) \\(.\\).*/\\1/' /proc/$pid/stat")
        .out;
}

bool is_stuck(const RunningFleet& fleet, const std::string& host, const std::string& name) {
    return comes_true([&] { return fleet.find(host, name).state == 'D'; });
}

const std::string locked =
    "gpus 1\n"
    "process locked\n"
    "    exe /opt/serve/bin/python3\n"
    "    user alice\n"
    "    memory 0=4096\n";

TEST(Stuck, AFrozenNvidiaSmiSurvivesSigkillAndNotTheEndOfTheFleet) {
    NEEDS_ROOT();
    if (!has_freezer()) GTEST_SKIP() << "this machine has no v1 freezer";
    const Descriptions hosts;
    hosts.add("frozen", "gpus 1\ndriver frozen\n");
    RunningFleet fleet({hosts.folder()});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    EXPECT_EQ(state_after_kill(fleet, "frozen", "nvidia-smi -L"), "D\n");
    const auto processes = fleet.processes();
    EXPECT_THAT(processes, testing::Contains(testing::Field(&ProcessLine::command, HasSubstr("nvidia-smi"))));
    EXPECT_EQ(fleet.down().status, 0);
    for (const auto& process : processes)
        EXPECT_FALSE(lives(process.outer, process.start)) << process.command;
}

TEST(Stuck, AFrozenProcessEndsWithDownAlsoAfterItsKeeperWasKilled) {
    NEEDS_ROOT();
    if (!has_freezer()) GTEST_SKIP() << "this machine has no v1 freezer";
    const Descriptions hosts;
    hosts.add("frozen", "gpus 1\ndriver frozen\n");
    RunningFleet fleet({hosts.folder()});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    EXPECT_EQ(state_after_kill(fleet, "frozen", "nvidia-smi -L"), "D\n");
    const auto processes = fleet.processes();
    std::ifstream file(fleet.folder() + "/keeper");
    int keeper = 0;
    file >> keeper;
    ASSERT_GT(keeper, 1);
    ::kill(keeper, SIGKILL);
    EXPECT_EQ(fleet.down().status, 0);
    EXPECT_FALSE(std::filesystem::exists(fleet.folder()));
    for (const auto& process : processes)
        EXPECT_TRUE(comes_true([&] { return !lives(process.outer, process.start); })) << process.command;
}

TEST(Stuck, MapsAndCommandLineCanBeUnreadableAndAllElseOfTheProcessIsNot) {
    NEEDS_ROOT();
    if (!has_fuse()) GTEST_SKIP() << "this machine has no FUSE";
    const Descriptions hosts;
    hosts.add("maps", locked + "    unreadable maps\n");
    RunningFleet fleet({hosts.folder()});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    ASSERT_TRUE(is_stuck(fleet, "maps", "locked"));
    const auto pid = std::to_string(fleet.find("maps", "locked").pid);
    for (const std::string file : {"maps", "cmdline"})
        EXPECT_EQ(fleet.on("maps", "timeout -s KILL 0.2 cat /proc/" + pid + "/" + file).status, 137) << file;
    EXPECT_THAT(
        fleet.on("maps", "cd /proc/" + pid + "; ls -l fd exe; cat stat status cgroup").out,
        testing::AllOf(HasSubstr("/dev/nvidia0"), HasSubstr("/opt/serve/bin/python3"), HasSubstr("1001")));
    EXPECT_EQ(fleet.smi("maps", "--query-compute-apps=pid,process_name --format=csv,noheader"),
              pid + ", /opt/serve/bin/python3\n");
    EXPECT_EQ(fleet.find("maps", "locked").command, "(python3)");
    const auto processes = fleet.processes();
    EXPECT_EQ(fleet.down().status, 0);
    for (const auto& process : processes)
        EXPECT_FALSE(lives(process.outer, process.start)) << process.command;
}

TEST(Stuck, WhoReadsACommandLineCanBeKeptForGood) {
    NEEDS_ROOT();
    if (!has_fuse() || !has_freezer()) GTEST_SKIP() << "this machine has no FUSE or no v1 freezer";
    const Descriptions hosts;
    hosts.add("cmdline", locked + "    unreadable cmdline\n    readers frozen\n");
    RunningFleet fleet({hosts.folder()});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    ASSERT_TRUE(is_stuck(fleet, "cmdline", "locked"));
    const auto pid = std::to_string(fleet.find("cmdline", "locked").pid);
    EXPECT_EQ(state_after_kill(fleet, "cmdline", "cat /proc/" + pid + "/cmdline"), "D\n");
    const auto processes = fleet.processes();
    EXPECT_EQ(fleet.down().status, 0);
    for (const auto& process : processes)
        EXPECT_FALSE(lives(process.outer, process.start)) << process.command;
}

}  // namespace
}  // namespace cleanslate::simulated
