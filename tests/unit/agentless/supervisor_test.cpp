#include "agentless/supervisor.hpp"

#include <gtest/gtest.h>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

const std::string id = "4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a";
const std::string uid = "3f2a9c01-b7de-4f2a-9c01-b7de4f2a9c01";
const std::string uid_in_slice = "3f2a9c01_b7de_4f2a_9c01_b7de4f2a9c01";

struct Expected {
    SupervisorKind kind;
    std::string name, stop, path;
};

void expect(const std::string& cgroup, const Expected& expected) {
    const auto found = supervisor_of(cgroup);
    EXPECT_EQ(static_cast<int>(found.kind), static_cast<int>(expected.kind)) << cgroup;
    EXPECT_EQ(found.name, expected.name) << cgroup;
    EXPECT_EQ(found.stop_command, expected.stop) << cgroup;
    EXPECT_EQ(found.path, expected.path) << cgroup;
}

TEST(Supervisor, ASystemUnitIsStoppedBySystemctl) {
    expect("/system.slice/ollama.service", {SupervisorKind::systemd_unit, "ollama.service",
                                            "systemctl stop ollama.service", "/system.slice/ollama.service"});
    EXPECT_TRUE(supervisor_of("/system.slice/ollama.service").respawns());
}

TEST(Supervisor, AUnitIsFoundBelowAnyPrefixAndAboveItsOwnSubgroups) {
    expect("/foo/bar/system.slice/x.service",
           {SupervisorKind::systemd_unit, "x.service", "systemctl stop x.service",
            "/foo/bar/system.slice/x.service"});
    expect("/system.slice/system-vllm.slice/vllm@70b.service/worker",
           {SupervisorKind::systemd_unit, "vllm@70b.service", "systemctl stop vllm@70b.service",
            "/system.slice/system-vllm.slice/vllm@70b.service"});
}

TEST(Supervisor, EscapesInAUnitsNameAreKeptAndQuotedInTheCommand) {
    expect("/system.slice/llm-foo\\x2dbar.service",
           {SupervisorKind::systemd_unit, "llm-foo\\x2dbar.service",
            "systemctl stop 'llm-foo\\x2dbar.service'", "/system.slice/llm-foo\\x2dbar.service"});
}

TEST(Supervisor, AUserUnitIsStoppedThroughItsOwnManager) {
    expect(
        "/user.slice/user-1000.slice/user@1000.service/app.slice/sglang.service",
        {SupervisorKind::user_unit, "sglang.service", "systemctl --user --machine=1000@ stop sglang.service",
         "/user.slice/user-1000.slice/user@1000.service/app.slice/sglang.service"});
}

TEST(Supervisor, AScopeIsNeverStartedAgain) {
    const auto scope =
        supervisor_of("/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-7.scope");
    EXPECT_EQ(scope.name, "vte-spawn-7.scope");
    EXPECT_FALSE(scope.respawns());
    EXPECT_FALSE(supervisor_of("/system.slice/run-r4f.scope").respawns());
}

TEST(Supervisor, ALoginSessionIsNamedAndHasNoCommandThatWouldEndAllOfIt) {
    expect("/user.slice/user-1000.slice/session-3.scope",
           {SupervisorKind::login_session, "session-3.scope", "",
            "/user.slice/user-1000.slice/session-3.scope"});
    expect("/system.slice/ssh.service",
           {SupervisorKind::login_session, "ssh.service", "", "/system.slice/ssh.service"});
    EXPECT_FALSE(supervisor_of("/user.slice/user-1000.slice/session-c1.scope").respawns());
}

TEST(Supervisor, NobodyIsToldToStopAUnitThatRunsUnrelatedWork) {
    for (const auto* unit : {"cron.service", "slurmd.service", "docker.service", "systemd-logind.service",
                             "kubelet.service", "gpu01_slurmstepd.scope", "user@1000.service"}) {
        const auto found = supervisor_of("/system.slice/" + std::string(unit));
        EXPECT_EQ(found.name, unit);
        EXPECT_EQ(found.stop_command, "") << unit;
        EXPECT_FALSE(found.respawns()) << unit;
    }
}

TEST(Supervisor, TheUsersManagerItselfIsNotHisUnit) {
    const auto found = supervisor_of("/user.slice/user-1000.slice/user@1000.service/init.scope");
    EXPECT_EQ(found.name, "user@1000.service");
    EXPECT_EQ(found.kind, SupervisorKind::systemd_unit);
}

TEST(Supervisor, DockerIsKnownInV1AndV2) {
    expect("/docker/" + id,
           {SupervisorKind::container, "docker 4f2a9c01b7de", "docker stop 4f2a9c01b7de", "/docker/" + id});
    expect("/system.slice/docker-" + id + ".scope",
           {SupervisorKind::container, "docker 4f2a9c01b7de", "docker stop 4f2a9c01b7de",
            "/system.slice/docker-" + id + ".scope"});
    EXPECT_TRUE(supervisor_of("/docker/" + id).respawns());
}

TEST(Supervisor, OtherEnginesAreKnown) {
    expect("/machine.slice/libpod-" + id + ".scope/container",
           {SupervisorKind::container, "podman 4f2a9c01b7de", "podman stop 4f2a9c01b7de",
            "/machine.slice/libpod-" + id + ".scope"});
    expect("/system.slice/cri-containerd-" + id + ".scope",
           {SupervisorKind::container, "containerd 4f2a9c01b7de", "crictl stop 4f2a9c01b7de",
            "/system.slice/cri-containerd-" + id + ".scope"});
    expect("/ecs/task-1/" + id,
           {SupervisorKind::container, "container 4f2a9c01b7de", "", "/ecs/task-1/" + id});
    expect("/lxc.payload.node7/system.slice/x.service",
           {SupervisorKind::container, "lxc node7", "", "/lxc.payload.node7"});
}

TEST(Supervisor, AUsersOwnContainerIsStoppedThroughHisManager) {
    expect("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id + ".scope",
           {SupervisorKind::container, "podman 4f2a9c01b7de",
            "systemctl --user --machine=1000@ stop libpod-" + id + ".scope",
            "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id + ".scope"});
}

TEST(Supervisor, AContainerCountsMoreThanAUnitInsideIt) {
    EXPECT_EQ(supervisor_of("/docker/" + id + "/system.slice/x.service").kind, SupervisorKind::container);
}

TEST(Supervisor, WhatOnlyLooksLikeAContainersIdIsNone) {
    EXPECT_EQ(supervisor_of("/docker/4f2a").kind, SupervisorKind::none);
    EXPECT_EQ(supervisor_of("/docker/" + id.substr(1) + "G").kind, SupervisorKind::none);
    EXPECT_EQ(supervisor_of("/docker/" + id + "0").kind, SupervisorKind::none);
}

TEST(Supervisor, ASlurmJobIsKnownInV1AndV2AndWithTheNodesName) {
    for (const std::string& path : std::vector<std::string>{
             "/slurm/uid_1000/job_4242/step_0/task_0", "/slurm_gpu01/uid_1000/job_4242/step_batch",
             "/system.slice/slurmstepd.scope/job_4242/step_0/user/task_0",
             "/system.slice/gpu01_slurmstepd.scope/job_4242/step_extern", "/foo/slurm/uid_0/job_4242"}) {
        const auto found = supervisor_of(path);
        EXPECT_EQ(found.name, "slurm job 4242") << path;
        EXPECT_EQ(found.job_id, "4242") << path;
        EXPECT_EQ(found.stop_command, "scancel 4242") << path;
        EXPECT_TRUE(found.scheduled()) << path;
        EXPECT_EQ(found.path, path.substr(0, path.find("4242") + 4)) << path;
    }
}

TEST(Supervisor, AJobIsSlurmsOnlyBelowSlurm) {
    EXPECT_EQ(supervisor_of("/job_42/slurm").kind, SupervisorKind::none);
    EXPECT_EQ(supervisor_of("/slurm/job_42x").kind, SupervisorKind::none);
    EXPECT_EQ(supervisor_of("/slurm/job_").kind, SupervisorKind::none);
    EXPECT_EQ(supervisor_of("/slurm/job_111111111111111111111").kind, SupervisorKind::none);
}

TEST(Supervisor, APodIsKnownInBothSpellingsAndEveryQualityOfService) {
    for (const std::string& path : std::vector<std::string>{
             "/kubepods/burstable/pod" + uid, "/kubepods/pod" + uid,
             "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + uid_in_slice + ".slice",
             "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + uid_in_slice + ".slice"}) {
        for (const std::string& rest : {std::string{}, "/" + id, "/cri-containerd-" + id + ".scope"}) {
            const auto found = supervisor_of(path + rest);
            EXPECT_EQ(found.name, "pod " + uid) << path + rest;
            EXPECT_EQ(found.path, path) << path + rest;
            EXPECT_TRUE(found.scheduled() && found.respawns());
            EXPECT_NE(found.stop_command.find("kubectl"), std::string::npos);
            EXPECT_NE(found.stop_command.find(uid), std::string::npos);
        }
    }
}

TEST(Supervisor, APodWithoutAReadableUidIsStillSomeonesPod) {
    const auto found = supervisor_of("/kubepods/burstable/podding/" + id);
    EXPECT_TRUE(found.scheduled());
    EXPECT_EQ(found.path, "");  // nothing bounds it: a consent must not cover all pods
    EXPECT_EQ(supervisor_of("/kubepods/pod0123456789abcdef0123456789abcdef").name,
              "pod 0123456789abcdef0123456789abcdef");
}

TEST(Supervisor, BelowHisOwnManagerAUserCannotPretendToBeScheduledWork) {
    const std::string own = "/user.slice/user-1000.slice/user@1000.service";
    EXPECT_FALSE(supervisor_of(own + "/slurm/uid_0/job_1/step_0").scheduled());
    EXPECT_FALSE(supervisor_of(own + "/kubepods/pod" + uid).scheduled());
    EXPECT_FALSE(supervisor_of(own + "/slurmstepd.scope/job_1").scheduled());
}

TEST(Supervisor, AForgedNameNeverGetsIntoACommand) {
    const std::string own = "/user.slice/user-1000.slice/user@1000.service/";
    EXPECT_EQ(supervisor_of(own + "$(reboot).service").name, "user@1000.service");
    EXPECT_EQ(supervisor_of(own + "a;b.scope").stop_command, "");
    EXPECT_EQ(supervisor_of("/lxc/a b").kind, SupervisorKind::none);
}

TEST(Supervisor, WhatItDoesNotKnowIsNone) {
    for (const auto* path :
         {"", "/", "/init.scope", "/user.slice", "/../..", "garbage", "////", ".service", "/x/.scope"})
        EXPECT_EQ(supervisor_of(path).kind, SupervisorKind::none) << path;
}

TEST(Supervisor, ASlurmThatTracksJobsWithoutCgroupsIsSeenByTheStepDaemonAbove) {
    Scene scene(1);
    scene.process(700, 1, "slurmstepd").process(710, 700, "bash").process(812, 710, "python3");
    Process& step = scene.get(700);
    step.exe = "/usr/sbin/slurmstepd";
    step.uid = 0;
    step.argv = {"slurmstepd: [4242.batch]"};
    scene.in_cgroup(812, "/system.slice/slurmd.service");
    const auto& evidence = scene.evidence();
    const auto found = supervisor_of(*evidence.find(812), Lineage(evidence));
    EXPECT_EQ(found.name, "slurm job 4242");
    EXPECT_EQ(found.job_id, "4242");
    EXPECT_TRUE(found.scheduled());
}

TEST(Supervisor, DebiansStepDaemonIsOneToo) {
    Scene scene(1);
    scene.process(700, 1, "slurmstepd-wlm").process(812, 700, "python3");
    scene.get(700).exe = "/usr/sbin/slurmstepd-wlm";
    scene.get(700).uid = 0;
    for (const char* title : {"slurmstepd: [4242.batch]", "slurmstepd-wlm: [4242.0]"}) {
        scene.get(700).argv = {title};
        const auto& evidence = scene.evidence();
        EXPECT_EQ(supervisor_of(*evidence.find(812), Lineage(evidence)).job_id, "4242") << title;
    }
}

TEST(Supervisor, AStepDaemonThatDoesNotTellItsJobIsAJobAllTheSame) {
    Scene scene(1);
    scene.process(700, 1, "slurmstepd").process(812, 700, "python3");
    scene.get(700).exe = "/usr/sbin/slurmstepd";
    scene.get(700).uid = 0;
    const auto& evidence = scene.evidence();
    EXPECT_TRUE(supervisor_of(*evidence.find(812), Lineage(evidence)).scheduled());
    EXPECT_EQ(supervisor_of(*evidence.find(812), Lineage(evidence)).job_id, "");
}

TEST(Supervisor, AnOrdinaryUsersSlurmstepdIsNone) {
    Scene scene(1);
    scene.process(700, 1, "slurmstepd").process(812, 700, "python3");
    scene.get(700).exe = "/home/alice/slurmstepd";
    const auto& evidence = scene.evidence();
    EXPECT_FALSE(supervisor_of(*evidence.find(812), Lineage(evidence)).scheduled());
}

TEST(Supervisor, CarriesWhatAPlaybookNamesItBy) {
    EXPECT_EQ(supervisor_of("/system.slice/docker-" + id + ".scope").id, id);
    EXPECT_EQ(supervisor_of("/lxc.payload.web").id, "web");
    EXPECT_EQ(supervisor_of("/kubepods/burstable/pod" + uid).id, uid);
    EXPECT_EQ(supervisor_of("/kubepods/pod1").id, "");
    EXPECT_EQ(supervisor_of("/slurm/uid_1000/job_42/step_0").id, "42");
    EXPECT_EQ(supervisor_of("/system.slice/x.service").id, "x.service");
    EXPECT_TRUE(supervisor_of("/slurm/uid_1000/job_42/docker/" + id).in_container);
    EXPECT_FALSE(supervisor_of("/slurm/uid_1000/job_42/step_0").in_container);
    EXPECT_EQ(supervisor_of("/user.slice/user-7.slice/user@7.service/x.service").user_manager, "7");
}

}  // namespace
}  // namespace cleanslate::agentless
