// What comes after the kill: resets, reboots, leftovers in /dev/shm. Each only where the playbook has it and
// the person allowed it, and only where nobody loses what is theirs.

#include <algorithm>

#include "tests/integration/acts.hpp"
#include "tests/integration/logins.hpp"
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

const std::string shm_host =
    "gpus 1\n"
    "shm nccl-old 3MiB bob 5h\n"
    "shm torch_old\\n\\e[31m 4096 carol 3h\n"
    "shm nccl-young 4096 bob 120s\n"
    "shm nccl-open 4096 bob 5h open server\n"
    "shm nccl-mapped 4096 bob 5h mapped server\n"
    "shm nccl-root 4096 root 5h\n"
    "shm imagenet-train 64MiB bob 5h\n"
    "process server\n    exe /opt/serve/bin/server\n    user bob\n";

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
        for (const auto login : {Login::root, Login::sudo, Login::user}) {
            const auto gpus = "gpus 2\n" + through(login);
            hosts.add(at("sick", login), gpus + sick + worker("left", "alice", "1=4000") + daemon);
            hosts.add(at("ownerless", login), gpus + "gpu 1 idle 7000\n");
            hosts.add(at("boot-a", login), gpus + sick + "reboot-time 200ms\n");
            hosts.add(at("shm", login), through(login) + shm_host);
        }
        hosts.add("peer", "gpus 2\n" + sick + job);
        hosts.add("no-restart",
                  "gpus 2\n" + sick + daemon + "unit nvidia-persistenced.service start-fails\n");
        hosts.add("in-use", "gpus 2\n" + sick + "gpu 0 reset in-use\n");
        hosts.add("unsupported", "gpus 2\n" + sick + "gpu 0 reset unsupported\n");
        hosts.add("fails", "gpus 2\n" + sick + "gpu 0 reset fails\n");
        hosts.add("vanishes", "gpus 2\n" + sick + "gpu 0 reset hangs\n");
        hosts.add("boot-b", "gpus 1\n" + sick + "reboot-time 200ms\n");
        hosts.add("boot-job", "gpus 2\n" + sick + job);
    }
    static void SetUpTestSuite() {
        if (geteuid() == 0) LongReboot::begun();
        OnAFleet::SetUpTestSuite();
        if (fleet_ != nullptr && fleet_->started().status == 0) set_up_logins(*fleet_);
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

TEST_F(AfterKill, AResetCuresWhatIsSickOrOwnerlessAsRootAndBySudo) {
    const auto logins = logins_to_root();
    std::map<std::string, ProcessLine> daemons;
    for (const auto login : logins)
        daemons[at("sick", login)] = fleet_->find(at("sick", login), "persistenced");
    const auto report =
        clear(listed({"sick", "ownerless"}, logins), playbook(reset), {"--yes", "--allow-reset"});
    for (const auto& [host, daemon] : daemons) {
        EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
        EXPECT_EQ(results(report, host, "reset"), (std::vector<std::string>{"ok", "ok", "ok"}))
            << "the GPU, and its daemon's stop and start";
        EXPECT_FALSE(alive(host, "left"));
        EXPECT_NE(fleet_->find(host, "persistenced").pid, daemon.pid) << "stopped for it, and started again";
    }
    for (const auto login : logins)
        EXPECT_EQ(report.verdict(at("ownerless", login)), "clean")
            << report.host(at("ownerless", login)).dump(1);
    EXPECT_NE(operator_->audit().find("gpu-reset"), std::string::npos);
}

// With every allowance: none of these acts is his, and the report says which was withheld and why.
TEST_F(AfterKill, AnOrdinaryUserResetsRebootsAndRemovesNothing) {
    const auto before = fleet_->processes();
    const auto files = on("shm-user", "ls -a /dev/shm | sort");
    const auto boot = on("boot-a-user", "cat /proc/sys/kernel/random/boot_id");
    const auto resets = clear("sick-user,ownerless-user", playbook(reset), {"--yes", "--allow-reset"});
    for (const auto* host : {"sick-user", "ownerless-user"}) {
        for (const auto& result : results(resets, host, "reset")) EXPECT_EQ(result, "withheld") << host;
        EXPECT_TRUE(resets.has_finding(host, "reset-withheld", "the login is not root"))
            << resets.host(host).dump(1);
    }
    EXPECT_EQ(resets.verdict("sick-user"), "sick");
    EXPECT_EQ(resets.verdict("ownerless-user"), "dirty");
    expect_ended("sick-user", before, {"left"});  // alice's own
    const auto reboots = clear("boot-a-user", playbook(reboot), {"--yes", "--allow-reboot"});
    EXPECT_TRUE(reboots.has_finding("boot-a-user", "reboot-withheld", "the login is not root"))
        << reboots.host("boot-a-user").dump(1);
    EXPECT_EQ(reboots.verdict("boot-a-user"), "sick");
    EXPECT_EQ(on("boot-a-user", "cat /proc/sys/kernel/random/boot_id"), boot);
    const auto leftovers = clear("shm-user", playbook(clean_shm), {"--yes", "--allow-shm"});
    EXPECT_TRUE(leftovers.has_finding("shm-user", "shm-kept", "log in as root"))
        << leftovers.host("shm-user").dump(1);
    EXPECT_EQ(on("shm-user", "ls -a /dev/shm | sort"), files);
    EXPECT_EQ(operator_->audit().find("gpu-reset"), std::string::npos);
    EXPECT_EQ(operator_->audit().find("/dev/shm/"), std::string::npos);
}

TEST_F(AfterKill, NoGpuIsResetWhileAPeerIsHeldAndRefusalsAreSaid) {
    const auto rank = fleet_->find("peer", "rank");
    const auto report =
        clear("peer,in-use,unsupported,fails,no-restart", playbook(reset), {"--yes", "--allow-reset"});
    EXPECT_TRUE(untouched(rank));
    EXPECT_TRUE(report.has_finding("peer", "reset-withheld")) << report.host("peer").dump(1);
    for (const auto& result : results(report, "peer", "reset")) EXPECT_EQ(result, "withheld");
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

TEST_F(AfterKill, HostsRebootOneAfterTheOtherAsRootAndBySudo) {
    const auto rank = fleet_->find("boot-job", "rank");
    const auto logins = logins_to_root();
    std::vector<std::string> hosts{"boot-b"};
    for (const auto login : logins) hosts.push_back(at("boot-a", login));
    const auto id = [](const std::string& host) { return on(host, "cat /proc/sys/kernel/random/boot_id"); };
    std::map<std::string, std::string> ids;
    for (const auto& host : hosts) ids[host] = id(host);
    const auto report =
        clear("boot-b,boot-job," + listed({"boot-a"}, logins), playbook(reboot), {"--yes", "--allow-reboot"});
    std::vector<Absence> all;
    for (const auto& host : hosts) {
        EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
        EXPECT_NE(id(host), ids[host]);
        const auto own = absences(host);
        ASSERT_EQ(own.size(), 1U) << host;
        all.push_back(own[0]);
    }
    std::ranges::sort(all, {}, &Absence::away);
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_LT(all[i - 1].back, all[i].away) << "two were away at a time";
    EXPECT_TRUE(untouched(rank)) << "a host with somebody's job is not rebooted";
    EXPECT_TRUE(report.has_finding("boot-job", "reboot-withheld")) << report.host("boot-job").dump(1);
    EXPECT_EQ(report.verdict("boot-job"), "sick");
}

TEST_F(AfterKill, OnlyOldUnusedFilesOfThePatternsGoFromSharedMemoryAsRootAndBySudo) {
    const auto logins = logins_to_root();
    const auto plan = clear(listed({"shm"}, logins), playbook(clean_shm), {"--dry-run", "--allow-shm"});
    const auto report = clear(listed({"shm"}, logins), playbook(clean_shm), {"--yes", "--allow-shm"});
    for (const auto login : logins) {
        const auto host = at("shm", login);
        const auto planned = plan.host(host).dump();
        EXPECT_NE(planned.find("nccl-old"), std::string::npos) << planned;
        EXPECT_NE(planned.find("3145728"), std::string::npos) << "with its size";
        EXPECT_EQ(on(host, "ls /dev/shm | sort | tr '\\n' ' '"),
                  "imagenet-train nccl-mapped nccl-open nccl-root nccl-young ")
            << report.host(host).dump(1);
        EXPECT_EQ(results(report, host, "clean_shm"), (std::vector<std::string>{"ok", "ok"}));
        EXPECT_TRUE(report.has_finding(host, "shm-kept", "nccl-open")) << report.host(host).dump(1);
    }
    EXPECT_EQ(operator_->audit().find("imagenet"), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::testing
