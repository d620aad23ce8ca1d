#include "agentless/roles.hpp"

#include <gtest/gtest.h>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

Process run(const std::string& exe, std::uint32_t uid, std::uint32_t file_owner) {
    Scene scene(1);
    scene.process(812, 1, exe.substr(exe.rfind('/') + 1, 15));
    Process p = scene.get(812);
    p.exe = exe;
    p.uid = uid;
    p.exe_owner = file_owner;
    return p;
}

TEST(Roles, AUsersOwnProgramPlaysNoPartByItsName) {
    EXPECT_TRUE(lets_people_in(run("/usr/sbin/sshd", 0, 0)));
    EXPECT_TRUE(lets_people_in(run("/usr/sbin/sshd", 1000, 0)));
    EXPECT_FALSE(lets_people_in(run("/home/alice/sshd", 1000, 1000)));
    EXPECT_TRUE(supervises(run("/usr/bin/conmon", 1000, 0)));
    EXPECT_FALSE(supervises(run("/home/alice/conmon", 1000, 1000)));
    EXPECT_TRUE(is_named_as_supervisor(run("/home/alice/conmon", 1000, 1000)));
}

TEST(Roles, WhatWasNotToldSupervises) {
    Process p = run("/home/alice/conmon", 1000, 1000);
    p.exe_owner.reset();
    EXPECT_TRUE(supervises(p));
    EXPECT_FALSE(runs_system_file(p));
}

TEST(Roles, ASystemFileIsRootsAloneAndOnTheHost) {
    Process p = run("/usr/bin/conmon", 1000, 0);
    EXPECT_TRUE(runs_system_file(p));
    p.exe_writable_by_others = true;
    EXPECT_FALSE(runs_system_file(p));
    p.exe_writable_by_others = false;
    p.host_mount_ns = false;
    EXPECT_FALSE(runs_system_file(p));
    p.cgroup = "/system.slice/sandboxed.service";
    EXPECT_TRUE(runs_system_file(p));
}

TEST(Roles, MultiplexersAndInitsAreKnownByWhatTheyCallThemselvesToo) {
    Process p = run("/home/alice/conda/bin/tmux", 1000, 1000);
    EXPECT_TRUE(keeps_terminals(p));
    EXPECT_FALSE(keeps_terminals(run("/usr/bin/python3.11", 1000, 0)));
    EXPECT_TRUE(is_init(run("/usr/lib/systemd/systemd", 0, 0)));
    EXPECT_TRUE(is_init(run("/usr/bin/tini-static", 0, 0)));
    EXPECT_FALSE(is_init(run("/usr/bin/python3.11", 0, 0)));
    EXPECT_TRUE(is_container_init(run("/usr/bin/tini-static", 0, 0)));
    EXPECT_TRUE(is_container_init(run("/sbin/docker-init", 0, 0)));
    EXPECT_FALSE(is_container_init(run("/usr/lib/systemd/systemd", 0, 0)));
}

}  // namespace
}  // namespace cleanslate::agentless
