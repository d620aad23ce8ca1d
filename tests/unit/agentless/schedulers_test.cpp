#include <gtest/gtest.h>

#include "agentless/ownership.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

std::string scheduler(Scene& scene) { return scheduler_of(scene.evidence()).value_or("none"); }

TEST(Schedulers, EachIsKnownByItsDaemon) {
    for (const auto& [exe, name] :
         std::vector<std::pair<std::string, std::string>>{{"/usr/sbin/slurmd", "slurmd"},
                                                          {"/usr/sbin/slurmstepd", "slurmstepd"},
                                                          {"/usr/sbin/slurmd-wlm", "slurmd-wlm"},
                                                          {"/usr/bin/kubelet", "kubelet"},
                                                          {"/usr/local/bin/k3s-agent", "k3s"},
                                                          {"/usr/local/bin/rke2", "rke2"},
                                                          {"/opt/pbs/sbin/pbs_mom", "pbs_mom"},
                                                          {"/opt/sge/bin/sge_execd", "sge_execd"},
                                                          {"/opt/lsf/etc/sbatchd", "sbatchd"},
                                                          {"/usr/sbin/condor_startd", "condor_startd"}}) {
        Scene scene(1);
        EXPECT_EQ(scheduler(scene), "none");
        scene.daemon(700, exe);
        EXPECT_EQ(scheduler(scene), name);
    }
}

TEST(Schedulers, AnAccountOfTheSystemMayRunSome) {
    Scene scene(1);
    scene.daemon(700, "/usr/sbin/condor_startd");
    scene.get(700).uid = 64;
    scene.get(700).user = "condor";
    EXPECT_EQ(scheduler(scene), "condor_startd");
    scene.get(700).exe = "/usr/sbin/slurmd";
    EXPECT_EQ(scheduler(scene), "none");
}

// That there is one lets a sweep act: nothing less than root's own daemon says so.
TEST(Schedulers, AnOrdinaryUsersProgramOfThatNameIsNone) {
    Scene scene(1);
    scene.daemon(700, "/usr/sbin/slurmd");
    Process& p = scene.get(700);
    const Process real = p;
    const auto none_with = [&](auto change) {
        p = real;
        change();
        EXPECT_EQ(scheduler(scene), "none");
    };
    none_with([&] { p.uid = 1000, p.user = "alice"; });
    none_with([&] { p.uid.reset(); });
    none_with([&] { p.exe_owner = 1000; });
    none_with([&] { p.exe_owner.reset(); });
    none_with([&] { p.exe_writable_by_others = true; });
    none_with([&] { p.exe.reset(); });
    none_with([&] { p.exe = "/usr/bin/python3.11"; });  // and comm says slurmd
    none_with([&] { p.state = 'Z'; });
    none_with([&] { p.cgroup.reset(); });
    none_with([&] { p.cgroup = "/docker/4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a"; });
    none_with([&] { p.host_mount_ns = false, p.cgroup = "/"; });
}

}  // namespace
}  // namespace cleanslate::agentless
