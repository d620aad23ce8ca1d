// Simulated hosts do what an operator can ask for beside signals: supervisors stop and start, GPUs are reset,
// machines reboot; and processes misbehave where they end.

#include <gmock/gmock.h>

#include "tests/fleet/selftest/running_fleet.hpp"

namespace cleanslate::simulated {
namespace {

using testing::HasSubstr;

const std::string container(64, 'c');

class Acts : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (!can_simulate()) return;
        static const Descriptions hosts;
        hosts.add("managed",
                  "gpus 2\nunit fails.service stop-fails\n"
                  "process server\n    exe /opt/serve/bin/ollama\n    cgroup /system.slice/ollama.service\n"
                  "    memory 0=4096\n    restart 50ms\n    term ignore\n"
                  "process fails\n    exe /opt/serve/bin/fails\n    cgroup /system.slice/fails.service\n"
                  "process boxed\n    exe /opt/serve/bin/boxed\n    restart 50ms\n"
                  "    cgroup /system.slice/docker-" +
                      container +
                      ".scope\n"
                      "process rank\n    exe /opt/serve/bin/rank\n    user alice\n"
                      "    cgroup /system.slice/slurmstepd.scope/job_77/step_0/user/task_0\n"
                      "process control\n    exe /usr/local/bin/nvidia-cuda-mps-control\n"
                      "process mps\n    exe /usr/local/bin/nvidia-cuda-mps-server\n    parent control\n"
                      "    memory 1=30\n"
                      "process client\n    exe /opt/serve/bin/client\n    user alice\n    mps yes\n"
                      "    memory 1=1024\n");
        hosts.add("reset",
                  "gpus 4\ngpu 1 state requires-reset\ngpu 2 reset unsupported\ngpu 3 idle 7000\n"
                  "process holder\n    exe /opt/serve/bin/holder\n    only mapped\n    memory 0=4096\n");
        hosts.add("boots",
                  "gpus 1\ngpu 0 state requires-reset\nreboot-time 100ms\n"
                  "process unit\n    exe /opt/serve/bin/unit\n    cgroup /system.slice/u.service\n"
                  "    restart 50ms\n"
                  "process worker\n    exe /opt/serve/bin/worker\n    memory 0=4096\n");
        hosts.add("files",
                  "gpus 1\nlogin-session 3 alice alive\nlogin-session 4 bob closing\nnvswitch no\n"
                  "shm old 3MiB bob 5h\nshm young 4096 bob 60s\nshm open 4096 alice 2h open user\n"
                  "shm mapped 4096 alice 2h mapped user\n"
                  "process user\n    exe /opt/serve/bin/user\n    user alice\n    nohup yes\n"
                  "    argv /opt/serve/bin/user a\\nb\\tc\\e[31m\\xff\n    padding 131072\n");
        hosts.add("ends",
                  "gpus 2\n"
                  "process forker\n    exe /opt/serve/bin/forker\n    term fork\n    memory 0=4096\n"
                  "process mover\n    exe /opt/serve/bin/mover\n    user alice\n    term move /moved\n"
                  "process heir\n    exe /opt/serve/bin/heir\n    user alice\n"
                  "process giver\n    exe /opt/serve/bin/giver\n    user alice\n    passes-to heir\n"
                  "    memory 1=4096\n    ends killed\n"
                  "process bomb\n    exe /opt/serve/bin/bomb\n    user bob\n    refill 4\n"
                  "    memory 0=100\n");
        if (has_fuse())
            hosts.add("slow",
                      "gpus 1\nprocess slow\n    exe /opt/serve/bin/slow\n    memory 0=10000\n"
                      "    teardown 1s\n");
        if (has_freezer())
            hosts.add("frozen",
                      "gpus 1\nprocess frozen\n    exe /opt/serve/bin/frozen\n    frozen yes\n"
                      "    memory 0=10000\n");
        fleet_ = new RunningFleet({hosts.folder()});
    }
    static void TearDownTestSuite() {
        delete fleet_;
        fleet_ = nullptr;
    }
    void SetUp() override {
        NEEDS_ROOT();
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
    }
    static std::size_t count(const std::string& host, const std::string& command) {
        std::size_t n = 0;
        for (const auto& process : fleet_->processes())
            n += process.host == host && process.state != 'Z' &&
                 process.command.find(command) != std::string::npos;
        return n;
    }
    static bool lives_on(const std::string& host, const std::string& name) {
        for (const auto& process : fleet_->processes())
            if (process.host == host && process.name == name && process.state != 'Z') return true;
        return false;
    }
    static RunningFleet* fleet_;
};
RunningFleet* Acts::fleet_ = nullptr;

TEST_F(Acts, AStoppedUnitStaysAwayUntilItIsStarted) {
    EXPECT_EQ(fleet_->on("managed", "systemctl is-active ollama.service").out, "active\n");
    EXPECT_EQ(fleet_->ssh("managed", "/usr/bin/systemctl stop ollama.service").status, 0);
    EXPECT_FALSE(lives_on("managed", "server")) << "it ignores TERM, and systemd has KILL";
    const auto inactive = fleet_->on("managed", "systemctl is-active ollama.service");
    EXPECT_EQ(inactive.out, "inactive\n");
    EXPECT_EQ(inactive.status, 3);
    EXPECT_EQ(fleet_->on("managed", "systemctl start ollama.service").status, 0);
    EXPECT_TRUE(comes_true([] { return lives_on("managed", "server"); }));
    const auto failed = fleet_->on("managed", "systemctl stop fails.service 2>&1");
    EXPECT_EQ(failed.status, 1);
    EXPECT_THAT(failed.out, HasSubstr("Failed to stop fails.service"));
    EXPECT_TRUE(lives_on("managed", "fails"));
    EXPECT_EQ(fleet_->ssh("managed", "systemctl stop ollama.service", "alice").status, 1);
    EXPECT_EQ(fleet_->on("managed", "systemctl stop no.service").status, 5);
}

TEST_F(Acts, ContainersJobsAndMpsEndByTheirOwnCommands) {
    EXPECT_EQ(fleet_->on("managed", "docker stop cccccccccccc").status, 0);
    EXPECT_FALSE(lives_on("managed", "boxed"));
    EXPECT_EQ(fleet_->on("managed", "docker stop cccccccccccc").status, 1);
    EXPECT_EQ(fleet_->on("managed", "scancel 77").status, 0);
    EXPECT_TRUE(comes_true([] { return !lives_on("managed", "rank"); }));
    EXPECT_EQ(fleet_->on("managed", "echo quit | nvidia-cuda-mps-control").status, 0);
    for (const auto* name : {"control", "mps"}) EXPECT_FALSE(lives_on("managed", name)) << name;
    EXPECT_TRUE(comes_true([] { return !lives_on("managed", "client"); }));
    EXPECT_EQ(fleet_->on("managed", "echo quit | nvidia-cuda-mps-control").status, 1);
}

TEST_F(Acts, AResetCuresWhatNobodyHoldsAndIsRefusedOtherwise) {
    const auto reset = [](const std::string& which) {
        return fleet_->on("reset", "nvidia-smi --gpu-reset -i " + which);
    };
    EXPECT_EQ(reset("0").status, 255) << "held by a mapping alone";
    EXPECT_THAT(reset("0").out, HasSubstr("In use by another client"));
    EXPECT_EQ(reset("2").status, 3);
    EXPECT_EQ(fleet_->ssh("reset", "nvidia-smi --gpu-reset -i 1", "alice").status, 4);
    EXPECT_THAT(fleet_->smi("reset", "--query-gpu=memory.used,pstate --format=csv,noheader -i 1"),
                HasSubstr("requires reset"));
    EXPECT_EQ(reset("1").status, 255) << "a CUDA process has every GPU's file mapped";
    const auto holder = fleet_->find("reset", "holder");
    fleet_->on("reset", "kill -9 " + std::to_string(holder.pid));
    EXPECT_TRUE(comes_true([&] { return !lives(holder.outer, holder.start); }));
    EXPECT_THAT(reset("1").out, HasSubstr("successfully reset"));
    EXPECT_EQ(reset("3").status, 0);
    EXPECT_TRUE(comes_true([] {
        return fleet_->smi("reset", "--query-gpu=memory.used --format=csv,noheader -i 1,3") ==
               "0 MiB\n0 MiB\n";
    }));
}

TEST_F(Acts, ARebootChangesTheBootIdAndLeavesOnlyWhatIsStartedAtBoot) {
    const auto id = fleet_->on("boots", "cat /proc/sys/kernel/random/boot_id").out;
    const auto unit = fleet_->find("boots", "unit");
    EXPECT_NE(fleet_->ssh("boots", "systemctl reboot && sleep 60").status, 0) << "the connection is cut";
    EXPECT_TRUE(comes_true([] { return fleet_->ssh("boots", "true").status == 0; }));
    EXPECT_NE(fleet_->on("boots", "cat /proc/sys/kernel/random/boot_id").out, id);
    EXPECT_FALSE(lives_on("boots", "worker"));
    EXPECT_NE(fleet_->find("boots", "unit").pid, unit.pid);
    EXPECT_EQ(fleet_->smi("boots", "--query-gpu=memory.used --format=csv,noheader"), "0 MiB\n");
    EXPECT_THAT(fleet_->on("boots", "cut -d' ' -f1 /run/simhost/boots").out, HasSubstr("back\naway\nback\n"));
}

TEST_F(Acts, SessionsAndSharedMemoryLookAsDescribed) {
    const auto monitor = fleet_->find("files", "login-3");
    EXPECT_THAT(fleet_->on("files", "cat /run/systemd/sessions/3").out,
                HasSubstr("LEADER=" + std::to_string(monitor.pid) + "\n"));
    EXPECT_THAT(fleet_->on("files", "cat /run/systemd/sessions/4").out, HasSubstr("STATE=closing"));
    const auto shell = fleet_->find("files", "shell-3");
    EXPECT_EQ(shell.user, "alice");
    EXPECT_NE(fleet_->on("files", "cut -d' ' -f7 /proc/" + std::to_string(shell.pid) + "/stat").out, "0\n");
    EXPECT_EQ(fleet_->on("files", "echo $(( ($(date +%s) - $(stat -c %Y /dev/shm/old)) / 600 ))").out,
              "30\n");
    EXPECT_EQ(fleet_->on("files", "stat -c '%s %U' /dev/shm/old").out, "3145728 bob\n");
    const auto proc = "/proc/" + std::to_string(fleet_->find("files", "user").pid);
    EXPECT_THAT(fleet_->on("files", "ls -l " + proc + "/fd").out, HasSubstr("/dev/shm/open"));
    EXPECT_THAT(fleet_->on("files", "cat " + proc + "/maps").out, HasSubstr("/dev/shm/mapped"));
    EXPECT_EQ(fleet_->on("files", "wc -c <" + proc + "/cmdline").out.size(), 7U) << "128 KiB and some";
    EXPECT_THAT(fleet_->on("files", "grep SigIgn " + proc + "/status").out, HasSubstr("1\n"));
}

TEST_F(Acts, WhoForksOrMovesOnTermLivesOn) {
    for (const auto* name : {"forker", "mover"})
        fleet_->on("ends", "kill " + std::to_string(fleet_->find("ends", name).pid));
    EXPECT_TRUE(comes_true([] { return !lives_on("ends", "forker") && count("ends", "forker") == 1; }));
    const auto mover = fleet_->find("ends", "mover");
    EXPECT_TRUE(comes_true([&] {
        return fleet_->on("ends", "cat /proc/" + std::to_string(mover.pid) + "/cgroup")
                   .out.find(":/moved\n") != std::string::npos;
    }));
    EXPECT_TRUE(lives(mover.outer, mover.start));
}

TEST_F(Acts, DeviceFilesThatWerePassedKeepADeadProcesssMemory) {
    EXPECT_THAT(fleet_->smi("ends", "--query-gpu=memory.used --format=csv,noheader -i 1"), HasSubstr("41"));
    EXPECT_FALSE(lives_on("ends", "giver"));
}

TEST_F(Acts, ABombRefillsItselfAndDoesNotGrow) {
    // The four and the one that starts them.
    EXPECT_TRUE(comes_true([] { return count("ends", "bin/bomb") == 5; }));
    for (int round = 0; round < 3; ++round) {
        fleet_->on("ends", "for p in $(pgrep -f bin/bomb); do kill -9 $p; break; done");
        EXPECT_TRUE(comes_true([] { return count("ends", "bin/bomb") == 5; }));
    }
    EXPECT_FALSE(lives_on("ends", "bomb")) << "the oldest was among them, and a copy took its place";
}

TEST_F(Acts, ASlowTeardownIsInStateDWhileItsMemoryShrinks) {
    if (!has_fuse()) GTEST_SKIP() << "this machine has no FUSE";
    const auto slow = fleet_->find("slow", "slow");
    EXPECT_EQ(slow.state, 'S');
    const auto used = [] {
        return std::stoi(fleet_->smi("slow", "--query-gpu=memory.used --format=csv,noheader,nounits"));
    };
    EXPECT_GT(used(), 10000);
    fleet_->on("slow", "kill -9 " + std::to_string(slow.pid));
    EXPECT_TRUE(comes_true([&] { return fleet_->find("slow", "slow").state == 'D'; }));
    EXPECT_TRUE(comes_true([&] { return used() < 8000; }));
    EXPECT_EQ(fleet_->find("slow", "slow").state, 'D');
    EXPECT_TRUE(comes_true([&] { return !lives(slow.outer, slow.start) && used() == 0; }));
}

TEST_F(Acts, AFrozenProcessOutlivesSigkill) {
    if (!has_freezer()) GTEST_SKIP() << "this machine has no v1 freezer";
    const auto frozen = fleet_->find("frozen", "frozen");
    EXPECT_TRUE(comes_true([&] { return fleet_->find("frozen", "frozen").state == 'D'; }));
    fleet_->on("frozen", "kill -9 " + std::to_string(frozen.pid));
    EXPECT_TRUE(lives(frozen.outer, frozen.start));
}

}  // namespace
}  // namespace cleanslate::simulated
