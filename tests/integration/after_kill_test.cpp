// What comes after the kill: resets, reboots, leftovers in /dev/shm. Each only where the playbook has it and
// the person allowed it, and only where nobody loses what is theirs.

#include "tests/integration/acts.hpp"
#include "tests/integration/long_reboot.hpp"

namespace cleanslate::testing {
namespace {

const std::string kill_all = "  - signal: KILL\n    match: {holding: gpu}\n    wait: 5s\n";
const std::string reset = "steps:\n" + kill_all +
                          "  - reset: {daemons: [nvidia-persistenced.service], within: 1s, timeout: 10s}\n"
                          "  - verify: {within: 5s}\n";
const std::string reboot = "steps:\n  - reboot: {deadline: 1m}\n  - verify: {within: 10s}\n";
const std::string clean_shm =
    "steps:\n"
    "  - clean_shm: {names: ['nccl-*', 'torch_*'], older_than: 1h}\n"
    "  - verify: {within: 5s}\n";

// Marked by the processes of a host: away and back, as it saw it itself.
struct Absence {
    long long away = 0, back = 0;
};

class AfterKill : public OnAFleet<AfterKill> {
  public:
    static void describe(const Descriptions& hosts) {
        const std::string sick = "gpu 0 state requires-reset\n";
        const std::string daemon =
            "process persistenced\n    exe /usr/local/bin/nvidia-persistenced\n"
            "    cgroup /system.slice/nvidia-persistenced.service\n    devices monitor\n";
        const std::string job =
            worker("rank", "dave", "1=4000",
                   "    cgroup /system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n");
        hosts.add("sick", "gpus 2\n" + sick + worker("left", "alice", "1=4000") + daemon);
        hosts.add("ownerless", "gpus 2\ngpu 1 idle 7000\n");
        hosts.add("peer", "gpus 2\n" + sick + job);
        hosts.add("no-restart",
                  "gpus 2\n" + sick + daemon + "unit nvidia-persistenced.service start-fails\n");
        hosts.add("in-use", "gpus 2\n" + sick + "gpu 0 reset in-use\n");
        hosts.add("unsupported", "gpus 2\n" + sick + "gpu 0 reset unsupported\n");
        hosts.add("fails", "gpus 2\n" + sick + "gpu 0 reset fails\n");
        hosts.add("no-root", "gpus 2\ninventory ansible_user alice\n" + sick);
        hosts.add("vanishes", "gpus 2\n" + sick + "gpu 0 reset hangs\n");
        for (const std::string name : {"boot-a", "boot-b"})
            hosts.add(name, "gpus 1\n" + sick + "reboot-time 200ms\n");
        hosts.add("boot-job", "gpus 2\n" + sick + job);
        hosts.add("shm",
                  "gpus 1\n"
                  "shm nccl-old 3MiB bob 5h\n"
                  "shm torch_old\\n\\e[31m 4096 carol 3h\n"
                  "shm nccl-young 4096 bob 120s\n"
                  "shm nccl-open 4096 bob 5h open server\n"
                  "shm nccl-mapped 4096 bob 5h mapped server\n"
                  "shm nccl-root 4096 root 5h\n"
                  "shm imagenet-train 64MiB bob 5h\n"
                  "process server\n    exe /opt/serve/bin/server\n    user bob\n");
    }
    static void SetUpTestSuite() {
        if (geteuid() == 0) LongReboot::begun();
        OnAFleet::SetUpTestSuite();
    }

  protected:
    static std::vector<Absence> absences(const std::string& host) {
        std::istringstream lines(on(host, "cat /run/simhost/boots"));
        std::vector<Absence> all;
        std::string what;
        for (long long when = 0; lines >> what >> when;) {
            if (what == "away") all.push_back({when, 0});
            if (what == "back" && !all.empty()) all.back().back = when;
        }
        return all;
    }
};

TEST_F(AfterKill, WithoutTheWordNothingIsResetRebootedOrRemoved) {
    const auto files = on("shm", "ls -a /dev/shm | sort");
    const auto boots = on("boot-a", "cat /proc/sys/kernel/random/boot_id");
    const auto resets = clear("ownerless,in-use", playbook(reset));
    for (const auto* host : {"ownerless", "in-use"}) {
        EXPECT_TRUE(resets.has_finding(host, "reset-withheld", "--allow-reset")) << resets.host(host).dump(1);
        EXPECT_NE(resets.verdict(host), "clean");
    }
    const auto reboots = clear("boot-a", playbook(reboot));
    EXPECT_TRUE(reboots.has_finding("boot-a", "reboot-withheld", "--allow-reboot"))
        << reboots.host("boot-a").dump(1);
    EXPECT_EQ(on("boot-a", "cat /proc/sys/kernel/random/boot_id"), boots);
    const auto shm = clear("shm", playbook(clean_shm));
    EXPECT_TRUE(shm.has_finding("shm", "shm-kept", "--allow-shm")) << shm.host("shm").dump(1);
    EXPECT_EQ(on("shm", "ls -a /dev/shm | sort"), files);
}

TEST_F(AfterKill, AResetCuresWhatIsSickOrOwnerless) {
    const auto daemon = fleet_->find("sick", "persistenced");
    const auto report = clear("sick,ownerless", playbook(reset), {"--yes", "--allow-reset"});
    EXPECT_EQ(report.verdict("sick"), "clean") << report.host("sick").dump(1);
    EXPECT_EQ(report.verdict("ownerless"), "clean") << report.host("ownerless").dump(1);
    EXPECT_EQ(results(report, "sick", "reset"), (std::vector<std::string>{"ok", "ok", "ok"}))
        << "the GPU, and its daemon's stop and start";
    EXPECT_FALSE(alive("sick", "left"));
    EXPECT_NE(fleet_->find("sick", "persistenced").pid, daemon.pid) << "stopped for it, and started again";
    EXPECT_NE(operator_->audit().find("gpu-reset"), std::string::npos);
}

TEST_F(AfterKill, NoGpuIsResetWhileAPeerIsHeldAndRefusalsAreSaid) {
    const auto rank = fleet_->find("peer", "rank");
    const auto report = clear("peer,in-use,unsupported,fails,no-restart,no-root", playbook(reset),
                              {"--yes", "--allow-reset"});
    EXPECT_TRUE(untouched(rank));
    EXPECT_TRUE(report.has_finding("peer", "reset-withheld")) << report.host("peer").dump(1);
    for (const auto& result : results(report, "peer", "reset")) EXPECT_EQ(result, "withheld");
    EXPECT_EQ(results(report, "no-root", "reset"), std::vector<std::string>{});
    EXPECT_TRUE(report.has_finding("no-root", "reset-withheld")) << report.host("no-root").dump(1);
    EXPECT_TRUE(report.has_finding("in-use", "reset-in-use")) << report.host("in-use").dump(1);
    EXPECT_TRUE(report.has_finding("unsupported", "reset-unsupported")) << report.host("unsupported").dump(1);
    EXPECT_TRUE(report.has_finding("fails", "reset-failed")) << report.host("fails").dump(1);
    for (const auto* host : {"peer", "in-use", "unsupported", "fails"})
        EXPECT_EQ(report.verdict(host), "sick") << host;
    EXPECT_TRUE(report.has_finding("no-restart", "daemon-not-restarted"))
        << report.host("no-restart").dump(1);
    EXPECT_EQ(report.verdict("no-restart"), "unknown");
}

TEST_F(AfterKill, AHostThatVanishesDuringAResetIsNotClean) {
    Report report;
    const auto steps = playbook(reset);
    std::thread sweep([&] { report = clear("vanishes", steps, {"--yes", "--allow-reset"}); });
    EXPECT_TRUE(comes_true([] { return !on("vanishes", "pgrep -f '[g]pu-reset'").empty(); }));
    on("vanishes", "pkill -9 -x sshd; pkill -9 -x sshd-session");
    sweep.join();
    EXPECT_EQ(report.status, 3) << report.err;
    EXPECT_NE(report.verdict("vanishes"), "clean");
    EXPECT_EQ(results(report, "vanishes", "reset"), std::vector<std::string>{"not_ended"})
        << report.host("vanishes").dump(1);
}

TEST_F(AfterKill, HostsRebootOneAfterTheOther) {
    const auto rank = fleet_->find("boot-job", "rank");
    const auto id = on("boot-a", "cat /proc/sys/kernel/random/boot_id");
    const auto report = clear("boot-a,boot-b,boot-job", playbook(reboot), {"--yes", "--allow-reboot"});
    for (const auto* host : {"boot-a", "boot-b"})
        EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
    EXPECT_NE(on("boot-a", "cat /proc/sys/kernel/random/boot_id"), id);
    const auto a = absences("boot-a"), b = absences("boot-b");
    ASSERT_EQ(a.size(), 1U);
    ASSERT_EQ(b.size(), 1U);
    EXPECT_TRUE(a[0].back < b[0].away || b[0].back < a[0].away) << "both were away at a time";
    EXPECT_TRUE(untouched(rank)) << "a host with somebody's job is not rebooted";
    EXPECT_TRUE(report.has_finding("boot-job", "reboot-withheld")) << report.host("boot-job").dump(1);
    EXPECT_EQ(report.verdict("boot-job"), "sick");
}

TEST_F(AfterKill, OnlyOldUnusedFilesOfThePatternsGoFromSharedMemory) {
    const auto plan = clear("shm", playbook(clean_shm), {"--dry-run", "--allow-shm"});
    const auto planned = plan.host("shm").dump();
    EXPECT_NE(planned.find("nccl-old"), std::string::npos) << planned;
    EXPECT_NE(planned.find("3145728"), std::string::npos) << "with its size";
    const auto report = clear("shm", playbook(clean_shm), {"--yes", "--allow-shm"});
    EXPECT_EQ(on("shm", "ls /dev/shm | sort | tr '\\n' ' '"),
              "imagenet-train nccl-mapped nccl-open nccl-root nccl-young ")
        << report.host("shm").dump(1);
    EXPECT_EQ(results(report, "shm", "clean_shm"), (std::vector<std::string>{"ok", "ok"}));
    EXPECT_TRUE(report.has_finding("shm", "shm-kept", "nccl-open")) << report.host("shm").dump(1);
    EXPECT_EQ(operator_->audit().find("imagenet"), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::testing
