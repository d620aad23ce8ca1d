// Simulated hosts start, respawn, misbehave as described, and leave nothing behind.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/fleet/selftest/running_fleet.hpp"

namespace cleanslate::simulated {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

int keeper_of(const RunningFleet& fleet) { return std::stoi(text_of(fleet.folder() + "/keeper")); }

// The fleet's folders in the machine's cgroups; empty where there is none (any more).
std::set<std::string> cgroups_of(int keeper) {
    std::set<std::string> found;
    const std::string name = "simulated-fleet-" + std::to_string(keeper);
    for (const std::string root :
         {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/freezer"})
        if (std::filesystem::exists(root + "/" + name)) found.insert(root);
    return found;
}

bool any_lives(const std::vector<ProcessLine>& processes) {
    for (const auto& process : processes)
        if (lives(process.outer, process.start)) return true;
    return false;
}

TEST(Host, LeavesNothingOnTheMachine) {
    NEEDS_ROOT();
    const auto mounts = text_of("/proc/self/mountinfo");
    const auto accounts = text_of("/etc/passwd");
    RunningFleet fleet({"demo/hosts"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto processes = fleet.processes();
    const int keeper = keeper_of(fleet);
    EXPECT_GT(processes.size(), 20U);
    EXPECT_FALSE(cgroups_of(keeper).empty());
    EXPECT_EQ(text_of("/proc/self/mountinfo"), mounts);
    EXPECT_EQ(text_of("/etc/passwd"), accounts);
    EXPECT_FALSE(std::filesystem::exists("/dev/nvidia7"));
    const auto down = fleet.down();
    EXPECT_EQ(down.status, 0) << down.out;
    EXPECT_FALSE(any_lives(processes));
    EXPECT_THAT(cgroups_of(keeper), testing::IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(fleet.folder()));
    EXPECT_EQ(text_of("/proc/self/mountinfo"), mounts);
}

TEST(Host, EndsWithTheProcessThatItWasStartedFor) {
    NEEDS_ROOT();
    const pid_t companion = ::fork();
    if (companion == 0) {
        ::pause();
        ::_exit(0);
    }
    const RunningFleet fleet({"hosts/leak.host"}, std::to_string(companion));
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto processes = fleet.processes();
    const int keeper = keeper_of(fleet);
    EXPECT_TRUE(any_lives(processes));
    ::kill(companion, SIGKILL);
    ::waitpid(companion, nullptr, 0);
    EXPECT_TRUE(comes_true([&] { return !std::filesystem::exists(fleet.folder()); }));
    EXPECT_FALSE(any_lives(processes));
    EXPECT_THAT(cgroups_of(keeper), testing::IsEmpty());
}

TEST(Host, DiesWithAKilledKeeperAndDownRemovesTheRest) {
    NEEDS_ROOT();
    RunningFleet fleet({"hosts/leak.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto processes = fleet.processes();
    const int keeper = keeper_of(fleet);
    ::kill(keeper, SIGKILL);
    EXPECT_TRUE(comes_true([&] { return !any_lives(processes); }));
    const auto down = fleet.down();
    EXPECT_EQ(down.status, 0) << down.out;
    EXPECT_FALSE(std::filesystem::exists(fleet.folder()));
    EXPECT_THAT(cgroups_of(keeper), testing::IsEmpty());
}

TEST(Host, AnswersOnItsOwnAddressByKeyOnly) {
    NEEDS_ROOT();
    const RunningFleet fleet({"demo/hosts/gpu01.host", "demo/hosts/gpu10.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    EXPECT_EQ(fleet.ssh("gpu01", "hostname").out, "gpu01\n");
    EXPECT_EQ(fleet.ssh("gpu01", "hostname; id -un", "alice").out, "gpu01\nalice\n");
    EXPECT_EQ(fleet.ssh("gpu01", "exit 7").status, 7);
    std::istringstream table(text_of(fleet.folder() + "/hosts.tsv"));
    std::string name, address, port;
    table >> name >> address >> port;
    const auto keyless = run({"ssh", "-F", "/dev/null", "-p", port, "-l", "root", "-o", "BatchMode=yes", "-o",
                              "UserKnownHostsFile=" + fleet.folder() + "/known_hosts", "-o",
                              "IdentitiesOnly=yes", "-o", "IdentityFile=none", address, "true"});
    EXPECT_EQ(keyless.status, 255);
    EXPECT_THAT(keyless.out, HasSubstr("Permission denied (publickey)"));
    EXPECT_THAT(fleet.ssh("gpu10", "true").out, HasSubstr("Connection refused"));
}

TEST(Host, LooksLikeAMachineAndNotLikeAContainer) {
    NEEDS_ROOT();
    const RunningFleet fleet({"hosts/clean.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    EXPECT_THAT(fleet.ssh("clean", "cat /proc/1/stat").out, testing::StartsWith("1 (systemd) S 0 "));
    EXPECT_THAT(fleet.ssh("clean", "cat /proc/2/stat").out, testing::StartsWith("2 (kthreadd) S 0 "));
    EXPECT_EQ(fleet.ssh("clean", "tr -d '\\0' < /proc/2/cmdline; ls /proc/2/fd").out, "");
    EXPECT_THAT(fleet.ssh("clean", "cat /proc/2/cgroup").out, HasSubstr("0::/\n"));
    EXPECT_THAT(fleet.ssh("clean", "cat /proc/1/cgroup").out, HasSubstr(":/init.scope\n"));
}

TEST(Host, HasABootIdOfItsOwn) {
    NEEDS_ROOT();
    const RunningFleet fleet({"demo/hosts/gpu01.host", "hosts/clean.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto boot_id = [&](const char* host) {
        return fleet.on(host, "cat /proc/sys/kernel/random/boot_id").out;
    };
    EXPECT_EQ(boot_id("gpu01").size(), 37U);
    EXPECT_EQ(boot_id("gpu01"), boot_id("gpu01"));
    EXPECT_NE(boot_id("gpu01"), boot_id("clean"));
}

TEST(Host, SharesTheMachineWithAnotherFleet) {
    NEEDS_ROOT();
    const RunningFleet one({"demo/hosts/gpu01.host"});
    const RunningFleet two({"demo/hosts/gpu01.host"});
    ASSERT_EQ(one.started().status + two.started().status, 0) << one.started().out << two.started().out;
    EXPECT_NE(text_of(one.folder() + "/hosts.tsv"), text_of(two.folder() + "/hosts.tsv"));
    EXPECT_EQ(one.ssh("gpu01", "true").status, 0);
    EXPECT_EQ(two.ssh("gpu01", "true").status, 0);
}

TEST(Host, PutsProcessesIntoTheirCgroups) {
    NEEDS_ROOT();
    const RunningFleet fleet({"demo/hosts/gpu08.host", "demo/hosts/gpu09.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto cgroup = [&](const char* host, const char* name) {
        return fleet.ssh(host, "cat /proc/" + std::to_string(fleet.find(host, name).pid) + "/cgroup").out;
    };
    EXPECT_THAT(cgroup("gpu08", "model-server"), HasSubstr(":/system.slice/model-server.service\n"));
    EXPECT_THAT(cgroup("gpu09", "job"), HasSubstr(":/slurm/uid_1001/job_4242/step_0\n"));
    EXPECT_THAT(cgroup("gpu09", "leaked"), HasSubstr(":/user.slice/user-1004.slice/session-1.scope\n"));
}

TEST(Host, RestartsWhatAUnitOrALauncherRestarts) {
    NEEDS_ROOT();
    const RunningFleet fleet({"demo/hosts/gpu08.host", "demo/hosts/gpu03.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto comes_back = [&](const char* host, const char* name) {
        const auto before = fleet.find(host, name);
        fleet.on(host, "kill -KILL " + std::to_string(before.pid));
        return comes_true([&] {
            for (const auto& process : fleet.processes())
                if (process.host == host && process.name == name && process.pid != before.pid &&
                    process.state != 'Z')
                    return !lives(before.outer, before.start);
            return false;
        });
    };
    EXPECT_TRUE(comes_back("gpu08", "model-server"));
    EXPECT_TRUE(comes_back("gpu03", "rank2"));
    fleet.on("gpu03", "kill -KILL " + std::to_string(fleet.find("gpu03", "launcher").pid));
    const auto orphan = fleet.find("gpu03", "rank0");
    fleet.on("gpu03", "kill -KILL " + std::to_string(orphan.pid));
    EXPECT_TRUE(comes_true([&] { return !lives(orphan.outer, orphan.start); }));
    for (const auto& process : fleet.processes())
        EXPECT_FALSE(process.name == "rank0" && process.state != 'Z') << "started again without its launcher";
}

TEST(Host, MisbehavesAsDescribed) {
    NEEDS_ROOT();
    const RunningFleet fleet({"hosts/cut.host", "hosts/no-end.host", "hosts/motd.host", "hosts/hang.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto cut = fleet.ssh("cut", "seq 1 100000 2>/dev/null");
    EXPECT_EQ(cut.status, 255);
    EXPECT_LT(cut.out.size(), 1000U);
    const auto no_end = fleet.ssh("no-end", "echo one; echo two; echo end");
    EXPECT_EQ(no_end.out, "one\ntwo\n");
    EXPECT_EQ(no_end.status, 0);
    EXPECT_GT(fleet.ssh("motd", "true").out.size(), 10'000'000U);
    EXPECT_EQ(run({"timeout", "1", "ssh", "-F", fleet.folder() + "/ssh_config", "hang", "true"}).status, 124);
}

TEST(Host, SpeaksCshWhereItIsInstalled) {
    NEEDS_ROOT();
    if (::access("/bin/csh", X_OK) != 0) GTEST_SKIP() << "csh is not installed";
    const RunningFleet fleet({"hosts/csh.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    EXPECT_EQ(fleet.ssh("csh", "echo $shell").out, "/bin/csh\n");
}

TEST(Host, HoldsWedgedProcessesThatNoSignalEndsAndStillGoesDown) {
    NEEDS_ROOT();
    if (!has_fuse()) GTEST_SKIP() << "this machine has no FUSE";
    RunningFleet fleet({"hosts/unkillable.host", "hosts/wedged.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    ASSERT_TRUE(comes_true([&] { return fleet.find("unkillable", "stuck").state == 'D'; }));
    const auto stuck = fleet.find("unkillable", "stuck");
    fleet.on("unkillable", "kill -KILL " + std::to_string(stuck.pid));
    fleet.on("wedged",
             "nvidia-smi -L >/dev/null 2>&1 & pid=$!; "
             "while ! grep -q ') D ' /proc/$pid/stat; do :; done; kill -KILL $pid");
    EXPECT_TRUE(lives(stuck.outer, stuck.start));
    const auto processes = fleet.processes();
    EXPECT_THAT(processes, testing::Contains(testing::Field(&ProcessLine::command, HasSubstr("nvidia-smi"))));
    EXPECT_EQ(fleet.down().status, 0);
    EXPECT_FALSE(any_lives(processes));
}

TEST(Host, NamesThePlaceInABrokenDescription) {
    const std::string file = testing::TempDir() + "broken.host";
    std::ofstream(file) << "gpus 8\nprocess one\n    exe /opt/x\n    memory 9=100\n";
    NEEDS_ROOT();
    const RunningFleet fleet({file});
    EXPECT_EQ(fleet.started().status, 1);
    EXPECT_THAT(fleet.started().out,
                HasSubstr("broken.host:4: 'INDEX=MIB' of a GPU that the host has is wanted"));
    std::filesystem::remove(file);
}

TEST(Host, TellsWhyItDidNotStartAndLeavesNothing) {
    NEEDS_ROOT();
    const std::string file = testing::TempDir() + "hopeless.host";
    std::ofstream(file) << "gpus 1\nprocess one\n    exe /no/such/program\n";
    const RunningFleet fleet({file, "hosts/clean.host"});
    EXPECT_EQ(fleet.started().status, 1);
    EXPECT_THAT(fleet.started().out, HasSubstr("cannot execute /no/such/program"));
    EXPECT_FALSE(std::filesystem::exists(fleet.folder()));
    std::filesystem::remove(file);
}

TEST(Judge, IsNotContentWithAFleetThatNobodyCleared) {
    NEEDS_ROOT();
    const RunningFleet fleet({"demo/hosts"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto before = fleet.folder() + "/before.tsv";
    std::ofstream(before) << run({simhost(), "ps", fleet.folder()}).out;
    const auto judgement = run({simhost(), "judge", fleet.folder(), before});
    EXPECT_EQ(judgement.status, 1);
    EXPECT_THAT(judgement.out, HasSubstr("heir still runs"));
    EXPECT_THAT(judgement.out, HasSubstr("model-server was never ended"));
    EXPECT_THAT(judgement.out, HasSubstr("memory is in use on a host that was to be clean"));
}

TEST(Judge, SeesAProtectedProcessThatWasEnded) {
    NEEDS_ROOT();
    const RunningFleet fleet({"demo/hosts/gpu06.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const auto before = fleet.folder() + "/before.tsv";
    std::ofstream(before) << run({simhost(), "ps", fleet.folder()}).out;
    const auto miner = fleet.find("gpu06", "miner");
    fleet.on("gpu06", "kill -KILL " + std::to_string(miner.pid));
    const auto content = [&] { return run({simhost(), "judge", fleet.folder(), before}).status == 0; };
    EXPECT_TRUE(comes_true(content));
    fleet.on("gpu06", "kill -KILL " + std::to_string(fleet.find("gpu06", "persistenced").pid));
    EXPECT_TRUE(comes_true([&] { return !content(); }));
    EXPECT_THAT(run({simhost(), "judge", fleet.folder(), before}).out,
                HasSubstr("persistenced is not the process that it was"));
}

}  // namespace
}  // namespace cleanslate::simulated
