// Memory belongs to open file descriptions: who dies, who inherits and who is listed, as measured on an H200.

#include <gmock/gmock.h>

#include "tests/fleet/selftest/running_fleet.hpp"

namespace cleanslate::simulated {
namespace {

using testing::HasSubstr;

const std::string apps = "--query-compute-apps=pid,used_memory,process_name --format=csv,noheader";

std::string used(const RunningFleet& fleet, const std::string& host, int index) {
    return fleet.smi(host,
                     "--query-gpu=memory.used --format=csv,noheader,nounits -i " + std::to_string(index));
}

TEST(Memory, OfADeadServerStaysWithTheSleepThatInheritedItsDescriptors) {
    NEEDS_ROOT();
    const RunningFleet fleet({"demo/hosts/gpu05.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto heir = fleet.find("gpu05", "heir");
    EXPECT_EQ(used(fleet, "gpu05", 2), "76107\n");
    EXPECT_EQ(used(fleet, "gpu05", 4), "51\n");
    EXPECT_THAT(fleet.smi("gpu05", apps), testing::MatchesRegex("[0-9]+, 76098 MiB, .Not Found.\n"));
    EXPECT_THAT(fleet.smi("gpu05", apps), testing::Not(HasSubstr(std::to_string(heir.pid) + ", ")));
    EXPECT_EQ(heir.command, "sleep 86400");
    EXPECT_EQ(heir.user, "alice");
    const std::string pid = std::to_string(heir.pid);
    EXPECT_EQ(fleet.on("gpu05", "ls -l /proc/" + pid + "/fd | grep -c '/dev/nvidia2$'").out, "23\n");
    EXPECT_EQ(fleet.on("gpu05", "grep -c /dev/nvidia /proc/" + pid + "/maps").out, "0\n");

    fleet.on("gpu05", "kill " + pid);
    EXPECT_TRUE(comes_true([&] { return used(fleet, "gpu05", 2) == "0\n"; }));
    EXPECT_EQ(fleet.smi("gpu05", apps), "");
}

// The story's own commands: by name, then by device file as every web page says.
TEST(Memory, SurvivesTheKillByNameOfTheStory) {
    NEEDS_ROOT();
    const RunningFleet fleet({"demo/hosts/gpu05.host", "demo/hosts/gpu04.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const std::string by_name =
        "for signal in TERM KILL; do for p in /proc/[0-9]*; do "
        "tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q \"$pattern\" && kill -$signal ${p#/proc/}; done; "
        "done; true";
    // [s]glang matches what sglang does, and not this shell.
    EXPECT_EQ(fleet.on("gpu05", "pattern='[s]glang'; " + by_name).status, 0);
    EXPECT_EQ(fleet.on("gpu05", "pattern='[p]ython3'; " + by_name).status, 0);
    EXPECT_EQ(used(fleet, "gpu05", 2), "76107\n");
    EXPECT_EQ(fleet.on("gpu04", "pattern='[a]pi_server'; " + by_name).status, 0);
    EXPECT_EQ(fleet.on("gpu04", "pattern='[v]llm.entrypoints'; " + by_name).status, 0);
    EXPECT_EQ(used(fleet, "gpu04", 0) + used(fleet, "gpu04", 1), "70153\n70153\n");
}

TEST(Memory, StaysWithAForkedCopyAndNotWithAZombie) {
    NEEDS_ROOT();
    const RunningFleet fleet({"hosts/zombie.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    EXPECT_EQ(fleet.find("zombie", "undead").state, 'Z');
    EXPECT_TRUE(comes_true([&] { return used(fleet, "zombie", 0) == "4\n"; }));  // the copy's cuInit
    EXPECT_EQ(used(fleet, "zombie", 1), "10859\n");
    EXPECT_THAT(fleet.smi("zombie", apps), testing::MatchesRegex("[0-9]+, 10850 MiB, .Not Found.\n"));
    const auto copy = fleet.find("zombie", "copy");
    const std::string pid = std::to_string(copy.pid);
    EXPECT_EQ(fleet.on("zombie", "ls -l /proc/" + pid + "/fd | grep -c '/dev/nvidia1$'").out, "23\n");
    EXPECT_EQ(fleet.on("zombie", "grep -c /dev/nvidia /proc/" + pid + "/maps").out, "0\n");
    fleet.on("zombie", "kill -KILL " + pid);
    EXPECT_TRUE(comes_true([&] { return used(fleet, "zombie", 0) + used(fleet, "zombie", 1) == "0\n0\n"; }));
}

TEST(Memory, IsReleasedAMomentAfterTheProcessIsGone) {
    NEEDS_ROOT();
    const RunningFleet fleet({"hosts/leak.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto worker = fleet.find("leak", "worker");
    ASSERT_EQ(used(fleet, "leak", 3), "40969\n");
    fleet.on("leak", "kill " + std::to_string(worker.pid));
    ASSERT_TRUE(comes_true([&] { return !lives(worker.outer, worker.start); }));
    const auto gone = std::chrono::steady_clock::now();
    ASSERT_TRUE(comes_true([&] { return used(fleet, "leak", 3) == "0\n"; }));
    EXPECT_GE(std::chrono::steady_clock::now() - gone, std::chrono::milliseconds(100));
    for (int i = 0; i < 50; ++i) ASSERT_EQ(used(fleet, "leak", 3), "0\n") << "released memory came back";
}

TEST(Memory, OfARenamedWorkerIsListedUnderItsNewName) {
    NEEDS_ROOT();
    const RunningFleet fleet({"demo/hosts/gpu04.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    EXPECT_THAT(fleet.smi("gpu04", apps), HasSubstr("70144 MiB, VLLM::Worker_TP0\n"));
    const auto engine = std::to_string(fleet.find("gpu04", "engine").pid);
    EXPECT_EQ(fleet.on("gpu04", "cat /proc/" + engine + "/comm").out, "VLLM::EngineCor\n");
    EXPECT_EQ(fleet.on("gpu04", "readlink /proc/" + engine + "/exe").out, "/opt/vllm/bin/python3.12\n");
    EXPECT_THAT(fleet.on("gpu04", "cat /proc/" + engine + "/stat").out,
                HasSubstr(") S 1 "));  // its parent is init
}

TEST(Memory, IsNobodysBusinessButTheOwnersForAnOrdinaryUser) {
    NEEDS_ROOT();
    const RunningFleet fleet({"hosts/leak.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto pid = std::to_string(fleet.find("leak", "worker").pid);
    const auto seen = fleet.ssh("leak", "nvidia-smi " + apps + "; ls /proc/" + pid + "/fd", "bob");
    EXPECT_THAT(seen.out, HasSubstr(pid + ", 40960 MiB, python3\n"));
    EXPECT_THAT(seen.out, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace cleanslate::simulated
