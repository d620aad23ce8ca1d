#include "agentless/launchers.hpp"

#include <gtest/gtest.h>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

// bash 800 -> python 810 (launcher) -> python 812 (worker), all of alice in one session that the shell leads.
class Launchers : public ::testing::Test {
  protected:
    Launchers() : scene_(8) {
        scene_.process(800, 500, "bash").process(810, 800, "python3").holder(812, 2, 76107, 810);
        scene_.get(800).exe = "/usr/bin/bash";
        scene_.get(800).argv = {"-bash"};
        for (const Pid pid : {810, 812}) scene_.get(pid).session = 800;
    }
    std::vector<Pid> launchers(Pid of = 812) {
        const auto& evidence = scene_.evidence();
        std::vector<Pid> pids;
        for (const auto* p : launchers_of(scene_.get(of), evidence, Lineage(evidence), rules_))
            pids.push_back(p->key.pid);
        return pids;
    }
    Process& named(Pid pid, const std::string& exe) {
        scene_.get(pid).exe = exe;
        scene_.get(pid).comm = exe.substr(exe.rfind('/') + 1, 15);
        return scene_.get(pid);
    }

    Scene scene_;
    ProtectionRules rules_;
};

TEST_F(Launchers, AreTheParentsBelowTheShell) { EXPECT_EQ(launchers(), std::vector<Pid>{810}); }

TEST_F(Launchers, AreAllTheParentsNearestFirst) {
    scene_.process(811, 810, "python3");
    scene_.get(811).session = 800;
    scene_.get(811).key.start = 8101;
    scene_.get(812).parent = 811;
    EXPECT_EQ(launchers(), (std::vector<Pid>{811, 810}));
}

TEST_F(Launchers, OfAnotherUserStay) {
    scene_.get(810).uid = 1001;
    EXPECT_EQ(launchers(), std::vector<Pid>{});
    scene_.get(810).uid.reset();
    EXPECT_EQ(launchers(), std::vector<Pid>{});
}

TEST_F(Launchers, OfAnotherCgroupStay) {
    scene_.in_cgroup(810, "/user.slice/user-1000.slice/session-4.scope");
    EXPECT_EQ(launchers(), std::vector<Pid>{});
    scene_.get(810).cgroup.reset();
    scene_.get(812).cgroup.reset();
    EXPECT_EQ(launchers(), std::vector<Pid>{});
}

TEST_F(Launchers, EndAtShellsMultiplexersInitsAndSupervisors) {
    for (const auto* exe :
         {"/bin/sh", "/usr/bin/zsh", "/bin/busybox", "/usr/bin/tmux", "/usr/bin/screen", "/usr/bin/tini",
          "/usr/bin/dumb-init", "/usr/sbin/slurmstepd", "/usr/bin/conmon", "/usr/bin/containerd-shim-runc-v2",
          "/usr/bin/sudo", "/usr/sbin/sshd", "/usr/sbin/cron", "/usr/lib/systemd/systemd",
          "/usr/libexec/gnome-session-binary"}) {
        named(810, exe);
        EXPECT_EQ(launchers(), std::vector<Pid>{}) << exe;
    }
}

TEST_F(Launchers, EndAtASupervisorThatIsAScript) {
    scene_.get(810).argv = {"/usr/bin/python3", "/usr/bin/supervisord", "-n"};
    EXPECT_EQ(launchers(), std::vector<Pid>{});
}

TEST_F(Launchers, EndAtTheSessionsOwnAncestors) {
    scene_.evidence().session_ancestors.push_back(810);
    EXPECT_EQ(launchers(), std::vector<Pid>{});
}

TEST_F(Launchers, EndAtWhatIsProtected) {
    rules_.protect = {"serve.py"};
    EXPECT_EQ(launchers(), std::vector<Pid>{});
}

TEST_F(Launchers, EndAtWhatMayBeProtected) {
    scene_.get(810).exe.reset();
    scene_.get(810).comm = "gnome-shell";
    EXPECT_EQ(launchers(), std::vector<Pid>{});
}

TEST_F(Launchers, AServerStartedBySetsidIsTheLeaderOfItsSessionAndGoesToo) {
    scene_.process(805, 1, "python3");
    scene_.get(805).session = 805;
    scene_.get(810).parent = 805;
    scene_.get(810).session = scene_.get(812).session = 805;
    EXPECT_EQ(launchers(), (std::vector<Pid>{810, 805}));
}

TEST_F(Launchers, WhatStandsAboveTheLeaderOfASessionStays) {
    scene_.process(805, 800, "python3");
    scene_.get(805).session = 800;
    scene_.get(810).parent = 805;
    scene_.get(810).session = 810;
    EXPECT_EQ(launchers(), std::vector<Pid>{810});
}

TEST_F(Launchers, AWorkerInASessionOfItsOwnDoesNotHideItsLauncher) {
    scene_.get(812).session = 812;
    EXPECT_EQ(launchers(), std::vector<Pid>{810});
}

TEST_F(Launchers, ADeadParentIsNone) {
    scene_.state(810, 'Z');
    EXPECT_EQ(launchers(), std::vector<Pid>{});
}

bool way_in(const std::string& exe, std::vector<std::string> argv, bool leader = false,
            std::uint32_t uid = 1000) {
    Process process;
    process.key.pid = 800;
    process.session = leader ? 800 : 700;
    process.uid = uid;
    process.exe = exe;
    process.exe_owner = 0;
    process.argv = std::move(argv);
    return is_way_in(process);
}

TEST(WayIn, ShellsOfALoginAre) {
    EXPECT_TRUE(way_in("/usr/bin/bash", {"-bash"}));
    EXPECT_TRUE(way_in("/usr/bin/zsh", {"-zsh"}));
    EXPECT_TRUE(way_in("/usr/bin/bash", {"bash", "-l"}));
    EXPECT_TRUE(way_in("/usr/bin/bash", {"bash", "--login", "-i"}));
    EXPECT_TRUE(way_in("/usr/bin/bash", {"bash"}, true));
    EXPECT_TRUE(way_in("/usr/bin/bash", {"bash", "--init-file", "/opt/editor/init.sh"}, true));
}

TEST(WayIn, ShellsThatRunACommandOrAScriptAreNot) {
    EXPECT_FALSE(way_in("/usr/bin/bash", {"bash", "-c", "python3 train.py"}, true));
    EXPECT_FALSE(way_in("/usr/bin/bash", {"bash", "-lc", "python3 train.py"}, true));
    EXPECT_FALSE(way_in("/usr/bin/bash", {"-bash", "-c", "python3 train.py"}));
    EXPECT_FALSE(way_in("/usr/bin/bash", {"bash", "run.sh", "-l"}, true));
    EXPECT_FALSE(way_in("/usr/bin/bash", {"bash"}, false));
    EXPECT_FALSE(way_in("/usr/bin/python3", {"-bash"}));
}

TEST(WayIn, ServersOfLoginsAre) {
    for (const auto* exe :
         {"/usr/sbin/sshd", "/usr/lib/openssh/sshd-session", "/usr/sbin/dropbear", "/usr/bin/login"})
        EXPECT_TRUE(way_in(exe, {exe})) << exe;
}

TEST(WayIn, AUsersOwnProgramNamedSshdIsNot) {
    Process process;
    process.uid = 1000;
    process.exe = "/home/alice/sshd";
    process.exe_owner = 1000;
    EXPECT_FALSE(is_way_in(process));
    process.exe_owner.reset();
    EXPECT_TRUE(is_way_in(process));
}

class Restarters : public Launchers {
  protected:
    Pid restarter(Pid of = 812) {
        const auto& evidence = scene_.evidence();
        const Process* parent = possible_restarter(scene_.get(of), Lineage(evidence));
        return parent ? parent->key.pid : 0;
    }
};

TEST_F(Restarters, AreParentsThatArePrograms) { EXPECT_EQ(restarter(), 810); }

TEST_F(Restarters, AreShellsThatRunAScriptAndNoPersonsShell) {
    EXPECT_EQ(restarter(810), 0) << "a login shell";
    scene_.get(800).argv = {"bash", "./serve-for-ever.sh"};
    EXPECT_EQ(restarter(810), 800);
    scene_.get(800).argv = {"bash", "-c", "while :; do python3 serve.py; done"};
    EXPECT_EQ(restarter(810), 800);
    scene_.get(800).argv = {"bash"};
    scene_.get(800).session = 500;
    EXPECT_EQ(restarter(810), 0) << "a shell in a shell";
}

TEST_F(Restarters, AreNoInitWayInOrTerminal) {
    EXPECT_EQ(restarter(800), 0) << "sshd";
    named(810, "/usr/bin/tmux");
    EXPECT_EQ(restarter(), 0);
    named(810, "/usr/lib/systemd/systemd");
    EXPECT_EQ(restarter(), 0);
    scene_.get(812).parent = 1;
    EXPECT_EQ(restarter(), 0);
    scene_.get(812).parent = 4711;
    EXPECT_EQ(restarter(), 0) << "not in the survey";
}

TEST_F(Restarters, AreSupervisorsOfServices) {
    named(810, "/usr/bin/runsv");
    EXPECT_EQ(restarter(), 810);
}

TEST_F(Restarters, LiveThemselves) {
    scene_.state(810, 'Z');
    EXPECT_EQ(restarter(), 0);
}

}  // namespace
}  // namespace cleanslate::agentless
