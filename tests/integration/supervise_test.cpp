// What starts things again is stopped by its own command, only where the playbook says so, and only where
// nothing in it must live.

#include "tests/integration/acts.hpp"

namespace cleanslate::testing {
namespace {

const std::string container_id(64, 'c');
const std::string job = "    cgroup /system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n";

const std::string stop_all =
    "steps:\n"
    "  - stop: [units, containers, slurm_jobs, mps]\n"
    "    match: {holding: gpu}\n"
    "    timeout: 3s\n"
    "  - verify: {within: 5s}\n";

class Supervise : public OnAFleet<Supervise> {
  public:
    static void describe(const Descriptions& hosts) {
        const std::string unit = "    restart 50ms\n    cgroup /system.slice/ollama.service\n";
        hosts.add("unit", "gpus 1\n" + worker("server", "nobody", "0=4000", "    term ignore\n" + unit));
        hosts.add("fails",
                  "gpus 1\nunit ollama.service stop-fails\n" + worker("server", "nobody", "0=4000", unit));
        hosts.add("hangs",
                  "gpus 1\nunit ollama.service stop-hangs\n" + worker("server", "nobody", "0=4000", unit));
        hosts.add("container", "gpus 1\n" + worker("boxed", "root", "0=4000",
                                                   "    restart 50ms\n    cgroup /system.slice/docker-" +
                                                       container_id + ".scope\n"));
        hosts.add("podman", "gpus 1\n" + worker("boxed", "root", "0=4000",
                                                "    restart 50ms\n    cgroup /machine.slice/libpod-" +
                                                    container_id + ".scope\n"));
        hosts.add("job", "gpus 1\n" + worker("rank", "dave", "0=4000", job));
        hosts.add("others-job", "gpus 1\n" + worker("rank", "dave", "0=4000", job));
        hosts.add(
            "user-unit",
            "gpus 1\n" + worker("notes", "bob", "0=4000",
                                "    restart 50ms\n    cgroup "
                                "/user.slice/user-1002.slice/user@1002.service/app.slice/notes.service\n"));
        hosts.add("mixed",
                  "gpus 1\nprocess monitor\n    exe /usr/local/bin/dcgm-exporter\n"
                  "    cgroup /system.slice/ollama.service\n    devices monitor\n" +
                      worker("server", "nobody", "0=4000", unit));
        hosts.add("mps",
                  "gpus 1\n"
                  "process control\n    exe /usr/local/bin/nvidia-cuda-mps-control\n"
                  "    argv nvidia-cuda-mps-control -d\n    cgroup /system.slice/mps.service\n"
                  "process server\n    exe /usr/local/bin/nvidia-cuda-mps-server\n    parent control\n"
                  "    memory 0=30\n" +
                      worker("client", "alice", "0=3000", "    mps yes\n"));
        hosts.add("no-root",
                  "gpus 1\ninventory ansible_user alice\n" + worker("server", "nobody", "0=4000", unit));
        hosts.add("churn", "gpus 1\n" + worker("server", "nobody", "0=4000", unit));
        hosts.add("unasked", "gpus 1\n" + worker("server", "nobody", "0=4000", unit));
        hosts.add("vanishes",
                  "gpus 1\nunit ollama.service stop-hangs\n" + worker("server", "nobody", "0=4000", unit));
    }
};

TEST_F(Supervise, UnitsContainersAndMpsStayAwayOnceStopped) {
    const auto report = clear("unit,container,podman,user-unit,mps", playbook(stop_all));
    EXPECT_EQ(report.status, 0) << report.err;
    for (const auto& [host, name, command] :
         {std::tuple{"unit", "server", "systemctl stop ollama.service"},
          std::tuple{"container", "boxed", "docker stop cccccccccccc"},
          std::tuple{"podman", "boxed", "podman stop cccccccccccc"},
          std::tuple{"user-unit", "notes", "systemctl --user --machine=1002@ stop notes.service"},
          std::tuple{"mps", "client", "nvidia-cuda-mps-control"}}) {
        EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
        EXPECT_FALSE(alive(host, name)) << host;
        EXPECT_EQ(results(report, host, "stop"), std::vector<std::string>{"ok"}) << host;
        EXPECT_NE(report.host(host)["commands"].dump().find(command), std::string::npos)
            << report.host(host)["commands"];
    }
    EXPECT_FALSE(alive("mps", "server"));
}

TEST_F(Supervise, AFailingOrHangingStopIsSaidAndEndsInTime) {
    const auto fails = fleet_->find("fails", "server");
    const auto hangs = fleet_->find("hangs", "server");
    const auto report = clear("fails,hangs", playbook(stop_all));
    EXPECT_EQ(report.status, 1);
    EXPECT_LT(report.took, std::chrono::seconds(30));
    for (const auto* host : {"fails", "hangs"}) {
        EXPECT_EQ(report.verdict(host), "dirty") << report.host(host).dump(1);
        EXPECT_TRUE(report.has_finding(host, "stop-failed", "ollama.service")) << report.host(host).dump(1);
    }
    EXPECT_TRUE(untouched(fails));
    EXPECT_TRUE(untouched(hangs));
    EXPECT_NE(report.host("fails")["commands"].dump().find("Connection timed out"), std::string::npos);
    EXPECT_EQ(on("hangs", "pgrep -x systemctl"), "") << "what hung is ended";
}

TEST_F(Supervise, NothingIsStoppedInWhichSomethingMustLive) {
    const auto monitor = fleet_->find("mixed", "monitor");
    const auto server = fleet_->find("mixed", "server");
    const auto others = fleet_->find("no-root", "server");
    const auto report = clear("mixed,no-root", playbook(stop_all));
    EXPECT_TRUE(untouched(others));
    EXPECT_EQ(results(report, "no-root", "stop"), std::vector<std::string>{});
    EXPECT_NE(report.verdict("no-root"), "clean");
    EXPECT_TRUE(untouched(monitor));
    EXPECT_TRUE(untouched(server));
    EXPECT_TRUE(report.has_finding("mixed", "supervisor-left", "dcgm-exporter"))
        << report.host("mixed").dump(1);
    EXPECT_EQ(results(report, "mixed", "stop"), std::vector<std::string>{});
}

// Processes that end while they are looked at are nobody who must live.
TEST_F(Supervise, AHostWhereProcessesComeAndGoIsStoppedAllTheSame) {
    on("churn",
       "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (while ! test -e /tmp/enough; do /bin/true; done) </dev/null "
       ">/dev/null 2>&1 & done");
    const auto report = clear("churn", playbook(stop_all));
    on("churn", "touch /tmp/enough");
    EXPECT_EQ(report.verdict("churn"), "clean") << report.host("churn").dump(1);
    EXPECT_EQ(results(report, "churn", "stop"), std::vector<std::string>{"ok"});
}

TEST_F(Supervise, AJobIsCancelledOnlyWhereJobsAreIncluded) {
    const auto rank = fleet_->find("others-job", "rank");
    const auto others = clear("others-job", playbook(stop_all));
    EXPECT_TRUE(untouched(rank));
    EXPECT_EQ(results(others, "others-job", "stop"), std::vector<std::string>{});
    const auto report = clear("job", playbook(stop_all), {"--yes", "--include-jobs"});
    EXPECT_EQ(report.verdict("job"), "clean") << report.host("job").dump(1);
    EXPECT_NE(report.host("job")["commands"].dump().find("scancel 42"), std::string::npos);
    EXPECT_FALSE(alive("job", "rank"));
}

TEST_F(Supervise, WithoutAStopStepItIsNamedWithTheCommandThatWouldStopIt) {
    const auto report = clear("unasked", "clear");
    EXPECT_EQ(report.verdict("unasked"), "dirty");
    EXPECT_TRUE(report.has_finding("unasked", "respawned", "systemctl stop ollama.service"))
        << report.host("unasked").dump(1);
    EXPECT_EQ(results(report, "unasked", "stop"), std::vector<std::string>{});
    EXPECT_TRUE(comes_true([] { return alive("unasked", "server"); }));
}

TEST_F(Supervise, AHostThatVanishesInTheMiddleOfAStopIsNotClean) {
    Report report;
    std::thread sweep([&] { report = clear("vanishes", playbook(stop_all)); });
    EXPECT_TRUE(comes_true([] { return !on("vanishes", "pgrep -x systemctl").empty(); }));
    on("vanishes", "pkill -9 -x sshd; pkill -9 -x sshd-session");
    sweep.join();
    EXPECT_EQ(report.status, 3) << report.err;
    EXPECT_NE(report.verdict("vanishes"), "clean");
    const auto audit = operator_->audit();
    EXPECT_NE(audit.find("systemctl stop ollama.service"), std::string::npos);
    EXPECT_EQ(results(report, "vanishes", "stop"), std::vector<std::string>{"not_ended"})
        << report.host("vanishes").dump(1);
}

}  // namespace
}  // namespace cleanslate::testing
