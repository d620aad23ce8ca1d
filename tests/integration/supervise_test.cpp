// What starts things again is stopped by its own command, only where the playbook says so, and only where
// nothing in it must live.

#include "tests/integration/acts.hpp"
#include "tests/integration/logins.hpp"

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
        for (const auto login : {Login::root, Login::sudo, Login::user}) describe_for(hosts, login);
        hosts.add("fails",
                  "gpus 1\nunit ollama.service stop-fails\n" + worker("server", "nobody", "0=4000", unit));
        hosts.add("hangs",
                  "gpus 1\nunit ollama.service stop-hangs\n" + worker("server", "nobody", "0=4000", unit));
        hosts.add("mixed",
                  "gpus 1\nprocess monitor\n    exe /usr/local/bin/dcgm-exporter\n"
                  "    cgroup /system.slice/ollama.service\n    devices monitor\n" +
                      worker("server", "nobody", "0=4000", unit));
        hosts.add("others-job", "gpus 1\n" + worker("rank", "dave", "0=4000", job));
        hosts.add("churn", "gpus 1\n" + worker("server", "nobody", "0=4000", unit));
        hosts.add("unasked", "gpus 1\n" + worker("server", "nobody", "0=4000", unit));
        hosts.add("vanishes",
                  "gpus 1\nunit ollama.service stop-hangs\n" + worker("server", "nobody", "0=4000", unit));
        // What runs there is alice's own.
        for (const auto& [host, cgroup] :
             {std::pair{"own-system-unit", "/system.slice/ollama.service"},
              std::pair{"own-user-unit",
                        "/user.slice/user-1001.slice/user@1001.service/app.slice/notes.service"},
              std::pair{"own-job", "/system.slice/slurmstepd.scope/job_42/step_0/user/task_0"}})
            hosts.add(at(host, Login::user),
                      "gpus 1\n" + through(Login::user) +
                          worker("own", "alice", "0=4000", std::string("    cgroup ") + cgroup + "\n"));
    }
    static void SetUpTestSuite() {
        OnAFleet::SetUpTestSuite();
        if (fleet_ != nullptr && fleet_->started().status == 0) set_up_logins(*fleet_);
    }

  private:
    // What is there once for each login: others' work all of it, but for the client of MPS.
    static void describe_for(const Descriptions& hosts, Login login) {
        const std::string gpu = "gpus 1\n" + through(login);
        const std::string again = "    restart 50ms\n    cgroup ";
        hosts.add(at("unit", login),
                  gpu + worker("server", "nobody", "0=4000",
                               "    term ignore\n" + again + "/system.slice/ollama.service\n"));
        hosts.add(at("container", login),
                  gpu + worker("boxed", "root", "0=4000",
                               again + "/system.slice/docker-" + container_id + ".scope\n"));
        hosts.add(at("podman", login),
                  gpu + worker("boxed", "root", "0=4000",
                               again + "/machine.slice/libpod-" + container_id + ".scope\n"));
        hosts.add(at("job", login), gpu + worker("rank", "dave", "0=4000", job));
        hosts.add(
            at("user-unit", login),
            gpu + worker("notes", "bob", "0=4000",
                         again + "/user.slice/user-1002.slice/user@1002.service/app.slice/notes.service\n"));
        hosts.add(at("mps", login),
                  gpu +
                      "process control\n    exe /usr/local/bin/nvidia-cuda-mps-control\n"
                      "    argv nvidia-cuda-mps-control -d\n    cgroup /system.slice/mps.service\n"
                      "process server\n    exe /usr/local/bin/nvidia-cuda-mps-server\n    parent control\n"
                      "    memory 0=30\n" +
                      worker("client", "alice", "0=3000", "    mps yes\n"));
    }
};

TEST_F(Supervise, UnitsContainersAndMpsStayAwayOnceStoppedAsRootAndBySudo) {
    const auto logins = logins_to_root();
    const auto report =
        clear(listed({"unit", "container", "podman", "user-unit", "mps"}, logins), playbook(stop_all));
    EXPECT_EQ(report.status, 0) << report.err;
    for (const auto& [kind, name, command] :
         {std::tuple{"unit", "server", "systemctl stop ollama.service"},
          std::tuple{"container", "boxed", "docker stop cccccccccccc"},
          std::tuple{"podman", "boxed", "podman stop cccccccccccc"},
          std::tuple{"user-unit", "notes", "systemctl --user --machine=1002@ stop notes.service"},
          std::tuple{"mps", "client", "nvidia-cuda-mps-control"}})
        for (const auto login : logins) {
            const auto host = at(kind, login);
            EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
            EXPECT_FALSE(alive(host, name)) << host;
            EXPECT_EQ(results(report, host, "stop"), std::vector<std::string>{"ok"}) << host;
            EXPECT_NE(report.host(host)["commands"].dump().find(command), std::string::npos)
                << report.host(host)["commands"];
        }
    for (const auto login : logins) EXPECT_FALSE(alive(at("mps", login), "server"));
}

// Of others' work nothing, of one's own what needs no root; and the report says what was left, and why.
TEST_F(Supervise, AnOrdinaryUserStopsOnlyWhatIsHisOwn) {
    const auto before = fleet_->processes();
    const auto report = clear("*-user", playbook(stop_all), {"--yes", "--include-jobs"});
    EXPECT_EQ(report.status, 1) << report.err;
    for (const std::string kind : {"unit", "container", "podman", "user-unit", "job", "mps"}) {
        const auto host = at(kind, Login::user);
        expect_ended(host, before, {});
        EXPECT_EQ(report.verdict(host), "dirty") << report.host(host).dump(1);
        EXPECT_EQ(results(report, host, "stop"), std::vector<std::string>{}) << host;
    }
    for (const auto& [kind, owner] :
         {std::pair{"unit", "nobody"}, std::pair{"container", "root"}, std::pair{"podman", "root"},
          std::pair{"user-unit", "bob"}, std::pair{"job", "dave"}}) {
        const auto& spared = report.host(at(kind, Login::user))["spared"];
        ASSERT_EQ(spared.size(), 1U) << kind << spared.dump(1);
        EXPECT_EQ(spared[0]["code"], "not-permitted") << spared.dump(1);
        EXPECT_EQ(spared[0]["user"], owner);
    }
    EXPECT_TRUE(report.has_finding("mps-user", "supervisor-left", "MPS was not stopped"))
        << report.host("mps-user").dump(1);
    expect_ended("own-system-unit-user", before, {});
    EXPECT_TRUE(report.has_finding("own-system-unit-user", "supervisor-left", "the login is not root"))
        << report.host("own-system-unit-user").dump(1);
    for (const auto& [kind, command] :
         {std::pair{"own-user-unit", "systemctl --user --machine=1001@ stop notes.service"},
          std::pair{"own-job", "scancel 42"}}) {
        const auto host = at(kind, Login::user);
        expect_ended(host, before, {"own"});
        EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
        EXPECT_NE(report.host(host)["commands"].dump().find(command), std::string::npos)
            << report.host(host)["commands"];
    }
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
    const auto report = clear("mixed", playbook(stop_all));
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
    const auto logins = logins_to_root();
    const auto report = clear(listed({"job"}, logins), playbook(stop_all), {"--yes", "--include-jobs"});
    for (const auto login : logins) {
        const auto host = at("job", login);
        EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
        EXPECT_NE(report.host(host)["commands"].dump().find("scancel 42"), std::string::npos);
        EXPECT_FALSE(alive(host, "rank"));
    }
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
