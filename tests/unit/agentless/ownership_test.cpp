#include "agentless/ownership.hpp"

#include <gtest/gtest.h>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

const std::string own = "/user.slice/user-1000.slice/user@1000.service";
const std::string id = "4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a";

// 812 of alice, whose parent is init, in the scope of session 3, which logind has forgotten.
class Orphan : public ::testing::Test {
  protected:
    Orphan() : scene_(1) {
        scene_.process(812, 1, "python3");
        scene_.evidence().sessions.emplace();
    }
    std::string why(Pid pid = 812) {
        const Lineage lineage(scene_.evidence());
        return orphaned(scene_.get(pid), scene_.evidence(), lineage).value_or("");
    }
    bool is_orphan(Pid pid = 812) { return !why(pid).empty(); }
    Process& get(Pid pid) { return scene_.get(pid); }
    // alice works at a terminal, without a systemd that would say so.
    void log_alice_in() {
        scene_.process(600, 500, "bash").in_cgroup(600, "/");
        get(600).exe = "/usr/bin/bash";
        get(600).tty = 34816;
    }
    Scene scene_;
};

TEST_F(Orphan, TheSessionMustBeClosedOrForgotten) {
    EXPECT_EQ(why(), "orphaned: its parent is init, session 3 is not known to logind");
    auto& sessions = *scene_.evidence().sessions;
    sessions.push_back({"3", 1000U, 700, true});
    EXPECT_EQ(why(), "orphaned: its parent is init, session 3 is closed");
    sessions[0].closing = false;
    EXPECT_EQ(why(), "");
    sessions[0] = {"33", 1001U, std::nullopt, false};
    EXPECT_NE(why(), "");
    scene_.evidence().sessions.reset();
    EXPECT_EQ(why(), "") << "nothing says that it is closed";
}

TEST_F(Orphan, ASessionIsAliveAsLongAsItsWayInLivesThere) {
    scene_.process(700, 500, "sshd-session");
    get(700).exe = "/usr/sbin/sshd-session";
    get(700).uid = 0;
    EXPECT_FALSE(is_orphan());
    get(700).uid = 1000;  // alice's own program of that name
    EXPECT_TRUE(is_orphan());
    get(700).uid.reset();
    EXPECT_FALSE(is_orphan());
}

TEST_F(Orphan, AClosingSessionWhoseLeaderLivesIsAlive) {
    scene_.process(700, 500, "login-thing");
    scene_.evidence().sessions->push_back({"3", 1000U, 700, true});
    EXPECT_FALSE(is_orphan());
    scene_.state(700, 'Z');
    EXPECT_TRUE(is_orphan());
}

TEST_F(Orphan, NobodyIsOneWhereTheListOfProcessesWasCut) {
    EXPECT_TRUE(is_orphan());
    scene_.evidence().cuts = {"maps"};
    EXPECT_TRUE(is_orphan());
    scene_.evidence().cuts = {"files", "maps"};
    EXPECT_FALSE(is_orphan()) << "who is logged in is not known";
}

TEST_F(Orphan, WithoutCgroupsTheParentsDecide) {
    scene_.in_cgroup(812, "/");
    EXPECT_EQ(why(), "orphaned: its parent is init, no unit, container, job or login session owns it");
    get(812).cgroup.reset();
    EXPECT_FALSE(is_orphan()) << "its cgroup was not read";
}

TEST_F(Orphan, UnitsContainersPodsAndJobsOwnWhatIsInThem) {
    for (const std::string& path :
         {std::string("/system.slice/vllm.service"), "/system.slice/docker-" + id + ".scope", "/docker/" + id,
          std::string("/kubepods/pod1"), std::string("/slurm/uid_1000/job_42/step_0"),
          std::string("/system.slice/cron.service"), std::string("/pbspro/42.server"),
          std::string("/machine.slice/libpod-" + id + ".scope")}) {
        scene_.in_cgroup(812, path);
        EXPECT_FALSE(is_orphan()) << path;
    }
}

TEST_F(Orphan, WhatIsBelowAUsersSystemdLivesAsLongAsThatOne) {
    for (const auto* path : {"/app.slice/own.service", "/app.slice/vte-spawn-7.scope", "/slurm/job_42"}) {
        scene_.in_cgroup(812, own + path);
        EXPECT_EQ(why(), "orphaned: its parent is init, the systemd of uid 1000 is gone") << path;
    }
    scene_.process(900, 1, "systemd");
    get(900).exe = "/home/alice/systemd";
    get(900).exe_owner = 1000;
    EXPECT_TRUE(is_orphan()) << "a program of her own with that name is no systemd";
    get(900).exe = "/usr/lib/systemd/systemd";
    get(900).exe_owner = 0;
    scene_.in_cgroup(812, own + "/app.slice/own.service");
    EXPECT_FALSE(is_orphan());
    scene_.in_cgroup(812, own + "/slurm/job_42");  // right in the manager's group, whatever she calls it
    EXPECT_EQ(why(), "orphaned: its parent is init, alice is not logged in");
    log_alice_in();
    EXPECT_FALSE(is_orphan());
}

TEST_F(Orphan, TheUsersOwnSystemdIsASubreaper) {
    scene_.process(900, 1, "systemd").in_cgroup(812, "/");
    get(900).exe = "/usr/lib/systemd/systemd";
    get(900).argv = {"/usr/lib/systemd/systemd", "--user"};
    get(812).parent = 900;
    get(812).key.start = 9500;
    get(812).session = 812;
    EXPECT_EQ(
        why(),
        "orphaned: its parent is the systemd of alice, no unit, container, job or login session owns it");
    get(900).argv = {"systemd"};
    EXPECT_FALSE(is_orphan());
}

TEST_F(Orphan, ParentsOfTheSameUserLeadToInit) {
    scene_.process(813, 812, "python3");
    EXPECT_EQ(why(813), "orphaned: the parent of its launcher 812 is init, session 3 is not known to logind");
    scene_.in_cgroup(812, "/system.slice/vllm.service");
    EXPECT_FALSE(is_orphan(813)) << "its launcher is a unit's";
}

TEST_F(Orphan, AParentOfSomebodyElseOwnsIt) {
    scene_.process(813, 812, "python3");
    get(812).uid = 0;
    EXPECT_FALSE(is_orphan(813));
    get(812).uid.reset();
    EXPECT_FALSE(is_orphan(813));
}

TEST_F(Orphan, AParentThatWasNotSeenProvesNothing) {
    get(812).parent = 4000;
    EXPECT_FALSE(is_orphan());
    get(812).parent = 0;  // outside of this pid namespace
    EXPECT_FALSE(is_orphan());
}

TEST_F(Orphan, PidOneMustBeAnInit) {
    get(1).exe = "/usr/bin/python3.11";
    get(1).comm = "python3";
    get(1).argv = {"python3", "serve.py"};
    EXPECT_FALSE(is_orphan()) << "a container's main program starts children of its own";
}

TEST_F(Orphan, APidThatWasGivenAwayProvesNothing) {
    scene_.process(813, 812, "python3").process(812, 1, "python3");
    scene_.evidence().processes.back().key.start = 8125;
    EXPECT_FALSE(is_orphan(812));
    EXPECT_FALSE(is_orphan(813));
}

TEST_F(Orphan, ZombiesKernelThreadsAndUnreadOwnersAreNone) {
    scene_.state(812, 'Z');
    EXPECT_FALSE(is_orphan());
    scene_.state(812, 'S');
    get(812).kernel_thread = true;
    EXPECT_FALSE(is_orphan());
    get(812).kernel_thread = false;
    get(812).uid.reset();
    EXPECT_FALSE(is_orphan());
    EXPECT_FALSE(is_orphan(1));
}

TEST_F(Orphan, NohupAndATerminalSpareItWhileItsOwnerIsLoggedIn) {
    log_alice_in();
    EXPECT_TRUE(is_orphan()) << "she is in, and has left this one behind";
    get(812).ignores_hangup = true;
    EXPECT_FALSE(is_orphan());
    get(812).ignores_hangup = false;
    get(812).tty = 34817;
    EXPECT_FALSE(is_orphan());
    scene_.state(600, 'Z');
    EXPECT_EQ(why(),
              "orphaned: its parent is init, session 3 is not known to logind, alice is not logged in");
}

TEST_F(Orphan, UnderTmuxItIsSparedWhileItsOwnerIsLoggedIn) {
    scene_.process(810, 1, "tmux: server").process(811, 810, "bash");
    get(810).exe = "/usr/bin/tmux";
    get(811).exe = "/usr/bin/bash";
    get(811).argv = {"-bash"};
    get(811).tty = get(812).tty = 34817;  // the multiplexer's, which is no login
    get(812).parent = 811;
    get(812).session = 811;
    EXPECT_EQ(why(),
              "orphaned: the parent of its launcher 810 is init, session 3 is not known to logind, alice is "
              "not logged in");
    log_alice_in();
    EXPECT_FALSE(is_orphan());
}

TEST_F(Orphan, AScriptThatStillRunsInItsSessionHasNotLeftItBehind) {
    scene_.process(810, 501, "bash");
    get(810).exe = "/usr/bin/bash";
    get(812).session = 810;
    EXPECT_FALSE(is_orphan());
    get(810).parent = 1;  // which is one itself by now
    EXPECT_TRUE(is_orphan());
    get(812).session = 0;  // its leader is outside of this pid namespace
    EXPECT_FALSE(is_orphan());
}

TEST_F(Orphan, WhatSupervisesOrLetsPeopleInOwnsItsChildren) {
    scene_.process(813, 812, "python3");
    for (const auto* exe :
         {"/usr/bin/runsvdir", "/usr/sbin/sshd", "/usr/bin/conmon", "/usr/bin/nvidia-smi"}) {
        get(812).exe = exe;
        get(812).exe_owner = 0;
        EXPECT_FALSE(is_orphan(813)) << exe;
    }
    get(812).exe_owner.reset();
    EXPECT_FALSE(is_orphan(813)) << "whose file it is could not be told";
}

TEST_F(Orphan, NobodySparesHimselfByANameThatHeChose) {
    scene_.process(813, 812, "slurmstepd");
    for (const auto* name : {"runsvdir", "sshd", "conmon", "slurmstepd", "supervisord", "cron"}) {
        get(812).exe = std::string("/home/alice/") + name;
        get(812).exe_owner = 1000;
        get(812).comm = name;
        get(812).argv = {"slurmstepd: [42.batch]"};
        EXPECT_TRUE(is_orphan(813)) << name;
    }
    get(812).exe = "/usr/bin/python3.11";
    get(812).argv = {"python3", "supervisord"};
    EXPECT_TRUE(is_orphan(813));
}

TEST_F(Orphan, NamesThatDrawOnATerminalStayPrintable) {
    get(812).user = "al\x1b[31mice\nend";
    get(812).ignores_hangup = true;
    EXPECT_EQ(why().find('\x1b'), std::string::npos);
    EXPECT_EQ(why().find('\n'), std::string::npos);
}

TEST_F(Orphan, SshdsOwnUnitIsAliveWhileItsOwnerIsLoggedIn) {
    scene_.in_cgroup(812, "/system.slice/ssh.service");
    EXPECT_EQ(why(), "orphaned: its parent is init, alice is not logged in");
    log_alice_in();
    EXPECT_FALSE(is_orphan());
}

// An init made for containers has started the oldest of its children itself, and lives for that one.
TEST_F(Orphan, TheMainProgramOfAContainerIsNobodysLeftover) {
    scene_.process(900, 1, "jupyter").process(901, 900, "python3").process(902, 1, "python3");
    for (const Pid pid : {812, 900, 901, 902}) scene_.in_cgroup(pid, "/");
    const std::uint64_t start = get(1).key.start;
    get(900).key.start = start + 1;
    for (const Pid pid : {901, 902, 812}) get(pid).key.start = start + 1000;
    for (auto& process : scene_.evidence().processes)
        if (process.key.pid != 1 && process.key.start < start + 1) process.key.start = start + 500;
    for (const auto* init :
         {"/usr/bin/tini", "/sbin/docker-init", "/usr/bin/dumb-init", "/usr/bin/catatonit"}) {
        get(1).exe = init;
        EXPECT_FALSE(is_orphan(900)) << init;
        EXPECT_FALSE(is_orphan(901)) << init;
        EXPECT_TRUE(is_orphan(902)) << init;
        EXPECT_TRUE(is_orphan(812)) << init;
    }
    get(1).exe = "/usr/lib/systemd/systemd";
    EXPECT_TRUE(is_orphan(900)) << "systemd starts nothing outside of units";
}

}  // namespace
}  // namespace cleanslate::agentless
