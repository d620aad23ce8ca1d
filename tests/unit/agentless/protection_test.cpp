#include "agentless/protection.hpp"

#include <gtest/gtest.h>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

// A daemon of the host as it usually runs: root's, from root's file, as a unit.
class Protection : public ::testing::Test {
  protected:
    Protection() : scene_(8) { daemon("nvidia-persistenced"); }

    Process& daemon(const std::string& name) {
        if (scene_.evidence().find(700) == nullptr) scene_.process(700, 1, name);
        Process& p = it();
        p.exe = "/usr/bin/" + name;
        p.comm = name.substr(0, 15);
        p.uid = 0;
        p.user = "root";
        p.argv = {*p.exe};
        p.cgroup = "/system.slice/gpu.service";
        return p;
    }
    void run_by(std::uint32_t uid, const std::string& user) {
        it().uid = uid;
        it().user = user;
    }
    Process& it() { return scene_.get(700); }
    std::string rule() { return protected_by(it(), scene_.evidence(), rules_).value_or("not protected"); }
    std::string doubt() { return may_be_protected(it(), rules_).value_or("none"); }

    Scene scene_;
    ProtectionRules rules_;
};

TEST_F(Protection, ADaemonOfTheHostIsProtectedByItsExecutable) {
    EXPECT_EQ(rule(), "built-in: nvidia-persistenced");
    daemon("containerd-shim-runc-v2");
    EXPECT_EQ(rule(), "built-in: containerd-shim*");
}

TEST_F(Protection, ANamedSystemAccountMayRunIt) {
    run_by(143, "nvidia-persistenced");
    EXPECT_EQ(rule(), "built-in: nvidia-persistenced");
    run_by(143, "munge");
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, AnOrdinaryUsersProcessOfThatNameIsNotProtected) {
    run_by(1000, "alice");
    EXPECT_EQ(rule(), "not protected");
    run_by(1000, "");
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, AnAccountThatIsOnlyNamedRootIsNotRoot) {
    run_by(1000, "root");
    EXPECT_EQ(rule(), "not protected");
    run_by(1000, "any");
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, AFileThatAUserOwnsOrCanWriteProtectsNobody) {
    it().exe_owner = 1000;
    EXPECT_EQ(rule(), "not protected");
    it().exe_owner = 0;
    it().exe_writable_by_others = true;
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, WhatAProcessCallsItselfProtectsNobody) {
    Process& p = daemon("python3.11");
    p.comm = "nv-hostengine";
    p.argv = {"nv-hostengine", "-n"};
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, ADaemonWhosePackageWasUpgradedStaysProtected) {
    it().exe_deleted = true;
    EXPECT_EQ(rule(), "built-in: nvidia-persistenced");
}

TEST_F(Protection, ASandboxedUnitHasAMountNamespaceOfItsOwn) {
    daemon("systemd-logind").host_mount_ns = false;
    it().cgroup = "/system.slice/systemd-logind.service";
    EXPECT_EQ(rule(), "built-in: systemd-*");
}

TEST_F(Protection, AMonitorInAContainerIsProtectedWhereRootRunsIt) {
    daemon("dcgm-exporter").host_mount_ns = false;
    it().cgroup = "/kubepods/pod3f2a9c01-b7de-4f2a-9c01-b7de4f2a9c01/x";
    EXPECT_EQ(rule(), "built-in: dcgm-exporter");
    run_by(1000, "alice");
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, ADesktopInAContainerIsWork) {
    daemon("Xorg").host_mount_ns = false;
    it().cgroup = "/docker/4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a";
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, AProgramMountedOverNvidiaSmiInAUsersNamespaceIsNotNvidiaSmi) {
    daemon("nvidia-smi");
    run_by(1000, "alice");
    EXPECT_EQ(rule(), "built-in: nvidia-smi");
    it().host_mount_ns = false;
    EXPECT_EQ(rule(), "not protected");
    it().cgroup = "/system.slice/ssh.service";
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, TheDesktopOfAnyUserIsProtected) {
    daemon("gnome-shell");
    run_by(1000, "alice");
    EXPECT_EQ(rule(), "built-in: gnome-shell");
    it().exe = "/home/alice/bin/gnome-shell";
    it().exe_owner = 1000;
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, AnEntryWithAPathIsComparedWithThePath) {
    daemon("agent").exe = "/opt/datadog-agent/bin/agent/agent";
    EXPECT_EQ(rule(), "built-in: /opt/datadog-agent/*");
    it().exe = "/home/alice/agent";
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, Pid1KernelThreadsAndTheSessionAreProtectedWhateverIsUnprotected) {
    rules_.unprotect = {"systemd", "sshd", "pid 1", "kernel thread", "*"};
    const auto rule_of = [&](Pid pid) { return *protected_by(scene_.get(pid), scene_.evidence(), rules_); };
    EXPECT_EQ(rule_of(1), "pid 1");
    EXPECT_EQ(rule_of(501), "the session's own ancestor");
    it().kernel_thread = true;
    EXPECT_EQ(rule(), "kernel thread");
    it().kernel_thread = false;
    it().parent = 0;
    it().key.pid = 2;
    EXPECT_EQ(protected_by(scene_.get(2), scene_.evidence(), rules_), "kernel thread");
}

TEST_F(Protection, NoSignalGoesToAPidThatMeansAGroup) {
    Process nobody;
    for (const Pid pid : {0, -1, -700}) {
        nobody.key.pid = pid;
        EXPECT_TRUE(protected_by(nobody, scene_.evidence(), rules_));
    }
}

TEST_F(Protection, Pid2OfAPidNamespaceIsAnOrdinaryProcess) {
    it().exe = "/usr/bin/python3.11";
    it().key.pid = 2;
    EXPECT_FALSE(protected_by(scene_.get(2), scene_.evidence(), rules_));
}

TEST_F(Protection, UnprotectTakesOutExactlyTheNamedEntry) {
    rules_.unprotect = {"nvidia-persistenced"};
    EXPECT_EQ(rule(), "not protected");
    EXPECT_EQ(doubt(), "none");
    daemon("containerd-shim-runc-v2");
    rules_.unprotect = {"containerd-shim-runc-v2"};
    EXPECT_EQ(rule(), "built-in: containerd-shim*");
    rules_.unprotect = {"containerd-shim*"};
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, WhatIsBothProtectedAndUnprotectedIsProtected) {
    rules_ = {{"nvidia-persistenced"}, {"nvidia-persistenced"}};
    EXPECT_EQ(rule(), "asked for by protect: nvidia-persistenced");
}

TEST_F(Protection, AnAddedEntryProtectsAnyOwnerAndAnyFile) {
    daemon("trainer").exe = "/home/alice/trainer";
    run_by(1000, "alice");
    it().exe_owner = 1000;
    it().host_mount_ns = false;
    EXPECT_EQ(rule(), "not protected");
    rules_.protect = {"other", "trainer"};
    EXPECT_EQ(rule(), "asked for by protect: trainer");
    rules_.protect = {"/home/alice/trainer"};
    EXPECT_EQ(rule(), "asked for by protect: /home/alice/trainer");
    rules_.protect = {"/home/bob/trainer"};
    EXPECT_EQ(rule(), "not protected");
    rules_.protect = {""};
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, AnAddedEntryProtectsAScriptOfAnInterpreterOnly) {
    daemon("python3.11").argv = {"python3", "-u", "/srv/watch.py", "--gpus", "all"};
    rules_.protect = {"watch.py"};
    EXPECT_EQ(rule(), "asked for by protect: watch.py");
    daemon("sleep").argv = {"sleep", "watch.py"};
    EXPECT_EQ(rule(), "not protected");
    daemon("python3.11").argv = {"watch.py"};  // argv[0] is what it calls itself
    EXPECT_EQ(rule(), "not protected");
    it().argv.reset();
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Protection, AnAddedUnitProtectsEverythingInIt) {
    daemon("python3.11").cgroup = "/user.slice/user-1000.slice/session-3.scope/deep/er";
    rules_.protect = {"session-3.scope"};
    EXPECT_EQ(rule(), "asked for by protect: session-3.scope");
    rules_.protect = {"user-1000.slice"};
    EXPECT_EQ(rule(), "asked for by protect: user-1000.slice");
    rules_.protect = {"session-30.scope"};
    EXPECT_EQ(rule(), "not protected");
    rules_.protect = {"deep"};  // no unit
    EXPECT_EQ(rule(), "not protected");
    it().cgroup = "/system.slice/_memory.service";
    rules_.protect = {"memory.service"};
    EXPECT_EQ(rule(), "asked for by protect: memory.service");
}

TEST_F(Protection, AnAddedEntryIsComparedWithCommWhereTheExecutableCouldNotBeRead) {
    daemon("a-trainer-of-models").exe.reset();
    rules_.protect = {"a-trainer-of-models"};
    EXPECT_EQ(rule(), "asked for by protect: a-trainer-of-models");
}

TEST_F(Protection, WhereRootsExecutableCouldNotBeReadTheNameIsEnough) {
    it().exe.reset();
    it().exe_owner.reset();
    it().host_mount_ns = false;
    EXPECT_EQ(rule(), "built-in: nvidia-persistenced");
    run_by(143, "nvidia-persistenced");
    EXPECT_EQ(rule(), "built-in: nvidia-persistenced");
}

TEST_F(Protection, AnUnreadableProcessOfAUserHidesNoMemoryButIsNotKilledEither) {
    daemon("gnome-shell").exe.reset();
    it().exe_owner.reset();
    run_by(1000, "alice");
    EXPECT_EQ(rule(), "not protected");
    EXPECT_EQ(doubt(), "gnome-shell");
    it().comm = "python3";
    EXPECT_EQ(doubt(), "none");
}

TEST_F(Protection, AnEntryOfRootsIsNoDoubtForAnOrdinaryUser) {
    it().exe.reset();
    run_by(1000, "alice");
    EXPECT_EQ(rule(), "not protected");
    EXPECT_EQ(doubt(), "none");
    it().uid.reset();
    EXPECT_EQ(doubt(), "nvidia-persistenced");
}

class Script : public Protection {
  protected:
    Script() {
        daemon("python3.11").argv = {"/usr/bin/python3", "/usr/local/bin/nvitop"};
        run_by(1000, "alice");
        it().open_minors = {0, 1, 2, 3, 4, 5, 6, 7};
        it().opens_control = true;
    }
};

TEST_F(Script, AMonitorThatOnlyLooksIsProtected) { EXPECT_EQ(rule(), "built-in: nvitop"); }

TEST_F(Script, IsNotAnyArgument) {
    it().argv = {"/usr/bin/python3", "train.py", "nvitop"};
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Script, WithADeviceFileMappedIsNoMonitor) {
    it().mapped_minors = {3};
    EXPECT_EQ(rule(), "not protected");
    it().mapped_minors.clear();
    it().maps_control = true;
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Script, ThatTheDriverListsIsNoMonitor) {
    scene_.evidence().apps.push_back({700, testing::uuid_of(0), Mebibytes{70000}, "python3"});
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Script, MayKeepTheMemoryOfADeadProcess) {
    scene_.ghost(4711, 2, 76107);
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Script, ThatCouldNotBeLookedIntoIsNoMonitor) {
    it().maps_readable = false;
    EXPECT_EQ(rule(), "not protected");
}

TEST_F(Script, OfAUsersOwnPythonIsNotProtectedUnlessAskedFor) {
    it().exe = "/home/alice/conda/bin/python3.11";
    it().exe_owner = 1000;
    EXPECT_EQ(rule(), "not protected");
    rules_.protect = {"nvitop"};
    EXPECT_EQ(rule(), "asked for by protect: nvitop");
}

// LD_PRELOAD puts any program into root's file: a user's monitor, shell server or manager that computes is
// not one.
TEST_F(Protection, OfAUsersProcessThatTheDriverListsIsOnlyThatOfADesktopOrOfMps) {
    for (const auto& entry : protected_entries()) {
        if (entry.owners != "any" || entry.script) continue;
        std::string name(entry.exe);
        if (name.ends_with('*')) name.pop_back();
        const auto protection = "built-in: " + std::string(entry.exe);
        daemon(name);
        run_by(1000, "alice");
        scene_.evidence().apps.clear();
        it().open_minors = {0};
        EXPECT_EQ(rule(), protection) << "it only looks";
        scene_.evidence().apps.push_back({700, testing::uuid_of(0), Mebibytes{70'000}, *it().exe});
        EXPECT_EQ(rule(), entry.on_gpus ? protection : "not protected") << name;
        it().open_minors.clear();
        EXPECT_EQ(rule(), protection) << "without a device file it is not the process that is listed";
        it().open_minors = {0};
        run_by(0, "root");
        EXPECT_EQ(rule(), protection);
    }
}

}  // namespace
}  // namespace cleanslate::agentless
