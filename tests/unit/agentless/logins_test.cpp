#include <gtest/gtest.h>

#include "agentless/ownership.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

bool logged_in(Scene& scene, std::uint32_t uid) {
    return is_logged_in(uid, scene.evidence(), Lineage(scene.evidence()));
}

TEST(Logins, NobodyIsInWhereNothingSaysSo) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    EXPECT_FALSE(logged_in(scene, 1000));
}

TEST(Logins, ASessionOfLogindThatIsNotClosing) {
    Scene scene(1);
    scene.evidence().sessions = {{"3", 1000U, std::nullopt, false}, {"4", 1001U, std::nullopt, true}};
    EXPECT_TRUE(logged_in(scene, 1000));
    EXPECT_FALSE(logged_in(scene, 1001));
    scene.evidence().sessions->push_back({"5", std::nullopt, std::nullopt, false});
    EXPECT_TRUE(logged_in(scene, 1001)) << "whose session 5 is could not be read";
}

TEST(Logins, WhatRunsBelowRootsSshdOrLogin) {
    Scene scene(1);
    scene.process(812, 500, "rsync");
    EXPECT_TRUE(logged_in(scene, 1000));
    scene.get(500).exe = "/usr/bin/sudo";
    EXPECT_FALSE(logged_in(scene, 1000)) << "root has started that for her";
    scene.get(500).exe = "/usr/sbin/sshd";
    scene.get(500).uid = 1001;
    EXPECT_FALSE(logged_in(scene, 1000)) << "not root's";
}

TEST(Logins, AShellOnATerminalThatNoMultiplexerKeeps) {
    Scene scene(1);
    scene.process(811, 1, "x").process(812, 811, "bash");
    scene.get(812).exe = "/usr/bin/bash";
    EXPECT_FALSE(logged_in(scene, 1000));
    scene.get(812).tty = 34816;
    EXPECT_TRUE(logged_in(scene, 1000));
    scene.get(811).exe = "/usr/bin/screen";
    EXPECT_FALSE(logged_in(scene, 1000));
}

TEST(Logins, WhoCameByMoshIsInWithoutAnySshd) {
    Scene scene(1);
    scene.process(811, 1, "mosh-server").process(812, 811, "bash");
    auto& server = scene.get(811);
    server.exe = "/usr/bin/mosh-server";
    server.exe_owner = 0;
    server.exe_writable_by_others = false;
    server.host_mount_ns = true;
    EXPECT_TRUE(logged_in(scene, 1000));
    EXPECT_FALSE(logged_in(scene, 1001));
    scene.state(811, 'Z');
    EXPECT_FALSE(logged_in(scene, 1000));
    scene.state(811, 'S');
    server.exe_owner = 1000;
    EXPECT_FALSE(logged_in(scene, 1000)) << "her own program of that name";
}

}  // namespace
}  // namespace cleanslate::agentless
