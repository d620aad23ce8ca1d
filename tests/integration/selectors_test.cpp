// Whom a step means, on a host that is shared by everything a host is shared by, and what the nightly sweep
// takes of it.

#include "tests/integration/acts.hpp"
#include "tests/integration/logins.hpp"

namespace cleanslate::testing {
namespace {

const std::string container_id(64, 'c');
const std::string pod = "12345678-1234-1234-1234-123456789abc";

// Live sessions, jobs, pods, containers and units, and what two people left who are gone.
std::string shared_host() {
    return "gpus 4\n"
           "login-session 3 alice alive\n"
           "login-session 9 bob closing\n"
           "process slurmd\n    exe /usr/local/bin/slurmd\n    cgroup /system.slice/slurmd.service\n" +
           worker("orphan", "bob", "0=2000", "    cgroup /user.slice/user-1002.slice/session-9.scope\n") +
           worker("detached", "carol", "1=700", "    cgroup /user.slice/user-1003.slice/session-12.scope\n") +
           worker("launcher", "carol", "3=600", "    cgroup /user.slice/user-1003.slice/session-12.scope\n") +
           worker("child", "carol", "3=600", "    parent launcher\n") +
           worker("nohup", "alice", "0=600",
                  "    nohup yes\n    cgroup /user.slice/user-1001.slice/session-2.scope\n") +
           worker("nohup-carol", "carol", "0=600",
                  "    nohup yes\n    cgroup /user.slice/user-1003.slice/session-12.scope\n") +
           worker("interactive", "alice", "1=600", "    parent shell-3\n") +
           "process tmux\n    exe /usr/local/bin/tmux\n    user alice\n"
           "    cgroup /user.slice/user-1001.slice/session-2.scope\n" +
           worker("in-tmux", "alice", "1=600", "    parent tmux\n") +
           worker("service", "nobody", "2=600", "    cgroup /system.slice/ollama.service\n") +
           "process user-manager\n    exe /usr/local/bin/systemd\n    argv systemd --user\n    user bob\n"
           "    cgroup /user.slice/user-1002.slice/user@1002.service/init.scope\n" +
           worker("user-service", "bob", "2=600",
                  "    cgroup /user.slice/user-1002.slice/user@1002.service/app.slice/notes.service\n") +
           worker("boxed", "bob", "2=600", "    cgroup /system.slice/docker-" + container_id + ".scope\n") +
           worker("podded", "bob", "2=600",
                  "    cgroup /kubepods.slice/kubepods-pod12345678_1234_1234_1234_123456789abc.slice/"
                  "cri-containerd-" +
                      std::string(64, 'd') + ".scope\n") +
           worker("job", "dave", "3=5000",
                  "    cgroup /system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n");
}

// Each step's name is followed by whom it has to choose.
struct Chosen {
    std::string match;
    std::set<std::string> names;
};

const std::vector<Chosen> selectors{
    {"holding: gpu, user: bob", {"orphan", "user-service", "boxed"}},
    {"holding: gpu, user: [bob, alice], not_user: alice", {"orphan", "user-service", "boxed"}},
    {"holding: gpu, uid_at_least: 1003", {"detached", "launcher", "child", "nohup-carol", "service"}},
    {"holding: gpu, older_than: 100d", {}},
    {"used_at_least: 2GiB", {}},
    {"used_at_least: 1GiB", {"orphan"}},
    {"cgroup: 'session-12', holding: gpu", {"detached", "launcher", "child", "nohup-carol"}},
    {"holding: gpu, user: carol, not_cgroup: 'session-12'", {}},
    {"unit: ollama.service", {"service"}},
    {"unit: 'oll*', holding: gpu", {"service"}},
    {"container: cccccccccccc", {"boxed"}},
    {"exe: '/launcher$', descendants: true", {"launcher", "child"}},
    {"name: '^child$', tree: true", {"launcher", "child"}},
    {"cmdline: ['/orphan$', '/detached$']", {"orphan", "detached"}},
    {"holding: gpu, orphaned: true", {"orphan", "detached", "launcher", "child", "nohup-carol"}},
    {"gpus: [1]", {"detached", "interactive", "in-tmux"}},
    {"holding: gpu, slurm_job: any", {}},
};

// With --include-jobs.
const std::vector<Chosen> job_selectors{
    {"holding: gpu, slurm_job: any", {"job"}},
    {"slurm_job: 42", {"job"}},
    {"slurm_job: 4", {}},
    {"slurm_job: 421", {}},
    {"holding: gpu, user: dave", {"job"}},
    {"holding: gpu, user: dave, slurm_job: none", {}},
    {"holding: gpu, pod: any", {"podded"}},
    {"pod: " + pod, {"podded"}},
    {"pod: 12345678-1234-1234-1234-123456789abd", {}},
    {"holding: gpu, user: bob", {"orphan", "user-service", "boxed", "podded"}},
    {"holding: gpu, user: bob, pod: none", {"orphan", "user-service", "boxed"}},
    {"holding: gpu, user: bob, container: none", {"orphan", "user-service"}},
    {"holding: gpu, user: bob, unit: none", {"orphan", "boxed", "podded"}},
};

class Selectors : public OnAFleet<Selectors> {
  public:
    static void describe(const Descriptions& hosts) {
        hosts.add("shared", shared_host());
        hosts.add(at("shared", Login::sudo), through(Login::sudo) + shared_host());
        hosts.add("lent", "gpus 4\n" + worker("mine", "alice", "0=4000") + worker("other", "bob", "1=4000") +
                              worker("both", "carol", "0=600 1=600"));
        hosts.add("lent-clean",
                  "gpus 4\n" + worker("mine", "alice", "0=4000") + worker("other", "bob", "1=4000"));
        const std::string left =
            worker("orphan", "bob", "0=2000", "    cgroup /user.slice/user-1002.slice/session-9.scope\n");
        hosts.add("unknown-use", "gpus 1\n" + left);
        hosts.add("unscheduled", "gpus 1\ninventory unscheduled true\n" + left);
        hosts.add(
            at("unscheduled", Login::user),
            "gpus 1\ninventory unscheduled true\n" + through(Login::user) + left +
                worker("own", "alice", "0=600", "    cgroup /user.slice/user-1001.slice/session-8.scope\n"));
        // Whoever has reached the host by mosh has no sshd any more.
        hosts.add(
            "roamed",
            "gpus 1\nlogin-session 3 alice closing\ninventory unscheduled true\n"
            "process mosh\n    exe /usr/local/bin/mosh-server\n    user alice\n"
            "    cgroup /user.slice/user-1001.slice/session-3.scope\n" +
                worker("typed", "alice", "0=600", "    parent mosh\n    tty yes\n") +
                worker("orphan", "bob", "0=600", "    cgroup /user.slice/user-1002.slice/session-9.scope\n"));
        hosts.add("adopted", "gpus 1\ninventory unscheduled true\n" +
                                 worker("adopted", "bob", "0=600",
                                        "    cgroup /user.slice/user-1002.slice/session-9.scope\n") +
                                 worker("orphan", "bob", "0=600",
                                        "    cgroup /user.slice/user-1002.slice/session-9.scope\n"));
        hosts.add("three", "gpus 1\n" + worker("a", "alice", "0=600") + worker("b", "alice", "0=600") +
                               worker("c", "alice", "0=600"));
        hosts.add("one", "gpus 1\n" + worker("a", "alice", "0=600"));
        hosts.add("ordinary", "gpus 2\ninventory ansible_user alice\n" + worker("own", "alice", "0=4000") +
                                  worker("other", "bob", "1=4000"));
    }

    static void SetUpTestSuite() {
        OnAFleet::SetUpTestSuite();
        if (fleet_ != nullptr && fleet_->started().status == 0) set_up_logins(*fleet_);
    }

  protected:
    // What a dry run says of steps with these selectors, in order, on the host that everything shares.
    json planned(const std::vector<Chosen>& some, const std::vector<std::string>& more) const {
        std::string text = "steps:\n";
        for (const auto& selector : some) text += "  - signal: TERM\n    match: {" + selector.match + "}\n";
        const auto plan = clear("shared", playbook(text), more);
        const auto& steps = plan.host("shared")["plan"];
        EXPECT_GE(steps.size(), some.size()) << plan.err << plan.host("shared").dump(1);
        if (steps.size() < some.size()) return json::array();
        for (std::size_t i = 0; i < some.size(); ++i)
            EXPECT_EQ(names(steps[i]["targets"], "shared"), some[i].names) << some[i].match;
        return steps;
    }
    // Names of the processes that a plan's step lists.
    std::set<std::string> names(const json& keys, const std::string& host) const {
        std::map<int, std::string> known;
        for (const auto& process : fleet_->processes())
            if (process.host == host) known[process.pid] = process.name;
        std::set<std::string> found;
        for (const auto& key : keys) found.insert(known[key["pid"].get<int>()]);
        return found;
    }
};

TEST_F(Selectors, EachOneChoosesWhomItSays) {
    const auto before = fleet_->processes();
    const auto steps = planned(selectors, {"--dry-run"});
    ASSERT_FALSE(steps.empty());
    // Somebody's job and pod are seen and left alone, and the plan says by which rule.
    const auto spared = steps[16]["spared"].dump();
    EXPECT_NE(spared.find("scheduled-job"), std::string::npos) << spared;
    EXPECT_EQ(names(steps[16]["spared"], "shared"), std::set<std::string>{"job"});
    expect_ended("shared", before, {});
}

TEST_F(Selectors, JobsPodsAndSinglePidsAreChosenAsTheyAreNamed) {
    const auto before = fleet_->processes();
    auto rows = job_selectors;
    const auto orphan = std::to_string(fleet_->find("shared", "orphan").pid);
    const auto rank = std::to_string(fleet_->find("shared", "job").pid);
    rows.push_back({"pid: " + orphan, {"orphan"}});
    rows.push_back({"pid: [" + orphan + ", " + rank + "]", {"orphan", "job"}});
    rows.push_back({"pid: " + orphan + ", user: carol", {}});
    planned(rows, {"--dry-run", "--include-jobs"});
    // Not included, both are seen and left alone.
    const auto steps =
        planned({{"slurm_job: 42", {}}, {"pod: " + pod, {}}, {"pid: " + rank, {}}}, {"--dry-run"});
    ASSERT_FALSE(steps.empty());
    for (const auto& [step, name] : {std::pair{0, "job"}, std::pair{1, "podded"}, std::pair{2, "job"}}) {
        EXPECT_EQ(names(steps[step]["spared"], "shared"), std::set<std::string>{name});
        EXPECT_EQ(steps[step]["spared"][0]["code"], "scheduled-job") << steps[step].dump(1);
    }
    expect_ended("shared", before, {});
}

TEST_F(Selectors, SomeGpusOfAHostLeaveTheOthersAndWhoHoldsBoth) {
    const auto before = fleet_->processes();
    const TemporaryFolder folder;
    const auto report =
        clear("lent*", "gpus", {"--set", "gpus=0", "--yes", "--clean-hosts", folder / "clean"});
    EXPECT_EQ(contents(folder / "clean"), "") << "somebody is on the other GPUs of both";
    expect_ended("lent", before, {"mine"});
    expect_ended("lent-clean", before, {"mine"});
    EXPECT_EQ(report.verdict("lent"), "dirty");
    EXPECT_EQ(report.verdict("lent-clean"), "clean") << report.host("lent-clean").dump(1);
    const auto& spared = report.host("lent")["spared"];
    ASSERT_EQ(spared.size(), 1U) << spared;
    EXPECT_EQ(spared[0]["code"], "other-gpu");
    EXPECT_EQ(spared[0]["user"], "carol");
    EXPECT_TRUE(report.has_finding("lent-clean", "gpus-not-judged"));
    EXPECT_EQ(report.status, 1);
}

TEST_F(Selectors, ASweepTakesOnlyWhatIsNobodysAnyMoreByEachLogin) {
    const auto before = fleet_->processes();
    // Everything was started more than a second ago by then.
    ASSERT_TRUE(comes_true([&] {
        return on("shared", "ps -o etimes= -C job").find_first_of("123456789") != std::string::npos;
    }));
    const auto logins = logins_to_root();
    const auto report = clear(listed({"shared"}, logins) + ",unknown-use,unscheduled,unscheduled-user",
                              "sweep", {"--set", "older_than=1s", "--yes"});
    for (const auto login : logins) {
        const auto host = at("shared", login);
        expect_ended(host, before, {"orphan", "detached", "launcher", "child", "nohup-carol"});
        EXPECT_EQ(report.verdict(host), "dirty") << "its GPUs are in use, as they should be";
    }
    expect_ended("unknown-use", before, {});
    expect_ended("unscheduled", before, {"orphan"});
    EXPECT_EQ(report.verdict("unscheduled"), "clean") << report.host("unscheduled").dump(1);
    EXPECT_TRUE(report.has_finding("unknown-use", "no-scheduler")) << report.host("unknown-use").dump(1);
    EXPECT_EQ(report.host("unknown-use")["actions"], json::array());
    // Of an ordinary user's sweep, his own.
    expect_ended("unscheduled-user", before, {"own"});
    EXPECT_EQ(report.verdict("unscheduled-user"), "dirty") << report.host("unscheduled-user").dump(1);
    const auto& spared = report.host("unscheduled-user")["spared"];
    ASSERT_EQ(spared.size(), 1U) << spared.dump(1);
    EXPECT_EQ(spared[0]["code"], "not-permitted");
    EXPECT_EQ(spared[0]["user"], "bob");
}

TEST_F(Selectors, ASweepLeavesWhoCameByMosh) {
    const auto before = fleet_->processes();
    const auto report = clear("roamed", "sweep", {"--set", "older_than=1s", "--yes"});
    expect_ended("roamed", before, {"orphan"});
    EXPECT_EQ(report.verdict("roamed"), "dirty");
}

// A login that pam_slurm_adopt gave to a job: by cgroup v1 it is the job's, by systemd's line the login's.
TEST_F(Selectors, AJobIsSeenOnWhicheverCgroupLineItStands) {
    const auto before = fleet_->processes();
    const auto moved = on("adopted",
                          "d=/sys/fs/cgroup/freezer/slurm/uid_1002/job_77/step_extern; mkdir -p $d && "
                          "pidof adopted >$d/cgroup.procs && grep -c job_77 /proc/$(pidof adopted)/cgroup");
    if (!moved.starts_with("1")) GTEST_SKIP() << "needs the v1 freezer: " << moved;
    const auto swept = clear("adopted", "sweep", {"--set", "older_than=1s", "--yes"});
    expect_ended("adopted", before, {"orphan"});
    EXPECT_EQ(swept.verdict("adopted"), "dirty");
    const auto cleared = clear("adopted", "clear");
    expect_ended("adopted", before, {"orphan"});
    EXPECT_EQ(cleared.host("adopted")["spared"][0]["code"], "scheduled-job")
        << cleared.host("adopted").dump(1);
}

TEST_F(Selectors, MoreTargetsThanAllowedAndNobodyIsSignalled) {
    const auto before = fleet_->processes();
    const auto limited = clear("three,one", "clear", {"--yes", "--max-kills", "2"});
    expect_ended("three", before, {});
    expect_ended("one", before, {"a"});
    EXPECT_EQ(limited.verdict("three"), "dirty");
    EXPECT_TRUE(limited.has_finding("three", "too-many-targets", "3")) << limited.host("three").dump(1);
    EXPECT_EQ(limited.verdict("one"), "clean");
    const auto total = clear("three", "clear", {"--yes", "--max-kills-total", "2"});
    expect_ended("three", before, {});
    EXPECT_TRUE(total.has_finding("three", "too-many-targets")) << total.host("three").dump(1);
}

TEST_F(Selectors, AnOrdinaryUserEndsOwnProcessesAndSeesWhoseTheOthersAre) {
    const auto before = fleet_->processes();
    const auto report = clear("ordinary", "clear");
    expect_ended("ordinary", before, {"own"});
    EXPECT_TRUE(report.has_finding("ordinary", "not-locked")) << "there is no /run/user of alice's";
    EXPECT_EQ(report.verdict("ordinary"), "dirty") << report.host("ordinary").dump(1);
    const auto dump = report.host("ordinary").dump();
    EXPECT_NE(dump.find("\"bob\""), std::string::npos) << dump;
    for (const auto& action : report.host("ordinary")["actions"])
        EXPECT_TRUE(action["user"] != "bob" || action["result"] == "not_permitted") << action;
}

}  // namespace
}  // namespace cleanslate::testing
