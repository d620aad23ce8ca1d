// Which GPUs a `reset:` step resets, and whether a host may be rebooted.

#include "agentless/resets.hpp"

#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::fail_row;
using testing::said;
using testing::Scene;

using Lines = std::vector<std::string>;

// "reset 2: why" of each that is reset, "GPU 2: why" of each that is not.
Lines resets(Scene& scene, const playbooks::ResetStep& step = {}, const ChoicePolicy& policy = {},
             const Expectations& expectations = {}) {
    const auto choice =
        choose_resets(step, scene.evidence(), agentless::judge(scene.evidence(), expectations), policy);
    Lines lines;
    for (const auto& gpu : choice.gpus)
        lines.push_back("reset " + (gpu.index ? std::to_string(*gpu.index) : gpu.bus_id) + ": " + gpu.why);
    for (const auto& one : choice.withheld) lines.push_back(one.what + ": " + one.why);
    return lines;
}

// Eight GPUs without NVSwitches. GPU 2 wants a reset, and nobody is there.
Scene sick(const char* cell = "[GPU requires reset]") {
    Scene scene(8);
    scene.evidence().nvswitches = 0;
    scene.evidence().gpus[2].cells[5] = cell;
    return scene;
}

// 76107 MiB on GPU 2 of a pid that no longer lives, and nobody who keeps them.
Scene ownerless() {
    Scene scene(8);
    scene.evidence().nvswitches = 0;
    scene.ghost(4000, 2, 76107);
    return scene;
}

TEST(Resets, AGpuThatWantsOneOrWhoseMemoryNobodyHolds) {
    auto scene = sick();
    EXPECT_EQ(resets(scene), Lines{"reset 2: sick: gpu-requires-reset"});
    scene = ownerless();
    EXPECT_EQ(resets(scene), Lines{"reset 2: 76107 MiB without a holder"});
    const auto choice = choose_resets({}, scene.evidence(), testing::judge(scene), {});
    EXPECT_EQ(choice.gpus.at(0).bus_id, testing::bus_of(2));
}

TEST(Resets, NoGpuThatIsCleanOrUnknown) {
    Scene scene(8);
    scene.evidence().nvswitches = 0;
    scene.evidence().gpus[1].used.reset();
    EXPECT_EQ(resets(scene), Lines{});
}

TEST(Resets, NothingOfEvidenceThatIsNotComplete) {
    auto scene = sick();
    const auto verdict = testing::judge(scene);
    scene.evidence().complete = false;
    const auto choice = choose_resets({}, scene.evidence(), verdict, {});
    EXPECT_TRUE(choice.gpus.empty() && choice.withheld.empty());
}

TEST(Resets, NotWhatOnlyARebootCures) {
    auto scene = sick("[GPU is lost]");
    EXPECT_EQ(resets(scene), Lines{"GPU 2: only a reboot cures it: gpu-lost"});
}

TEST(Resets, NotWhatAResetDoesNotCure) {
    Scene scene(8);
    scene.evidence().nvswitches = 0;
    scene.evidence().messages.push_back(said("WARNING: infoROM is corrupted at gpu " + testing::bus_of(2)));
    EXPECT_EQ(resets(scene), Lines{"GPU 2: a reset does not cure it: inforom-corrupted"});
}

TEST(Resets, AsTheRecoveryActionOfTheDriverSays) {
    for (const auto& [action, expected] : std::vector<std::pair<std::string, std::string>>{
             {"Reset", "reset 2: sick: recovery-action"},
             {"Drain and Reset", "reset 2: sick: recovery-action"},
             {"Reboot", "GPU 2: only a reboot cures it: recovery-action"},
             {"Drain P2P", "GPU 2: a reset does not cure it: recovery-action"}}) {
        Scene scene(8);
        scene.evidence().nvswitches = 0;
        auto& row = scene.evidence().gpus[2];
        row.optional.push_back({"gpu_recovery_action", action});
        row.troubles.push_back({Trouble::sick, "recovery-action", "recovery action " + action, ""});
        EXPECT_EQ(resets(scene), Lines{expected}) << action;
    }
}

TEST(Resets, NoGpuThatAnybodyHoldsOrHasOpen) {
    auto scene = sick();
    scene.holder(812, 2, 500);
    EXPECT_EQ(resets(scene), Lines{"GPU 2: held by pid 812 (python3.11)"});
    scene = sick();
    scene.opener(812);
    EXPECT_EQ(resets(scene), Lines{"GPU 2: its device file is open in pid 812 (python3.11)"});
    scene.get(812).open_minors = scene.get(812).mapped_minors = {3};
    EXPECT_EQ(resets(scene), Lines{"reset 2: sick: gpu-requires-reset"});
}

TEST(Resets, NoDirtyGpuThatSomebodyHolds) {
    Scene scene(8);
    scene.evidence().nvswitches = 0;
    scene.holder(812, 2, 500);
    EXPECT_EQ(resets(scene), Lines{"GPU 2: held by pid 812 (python3.11)"});
}

TEST(Resets, NoGpuWhoseDeadOnesMemoryIsKept) {
    auto scene = ownerless();
    scene.process(813, 1, "sleep").get(813).open_minors = {2};
    EXPECT_EQ(resets(scene), Lines{"GPU 2: held by pid 813 (python3.11)"});
}

TEST(Resets, NoGpuWhoseHolderWasNotReapedOrIsNotSeen) {
    Scene scene(8);
    scene.evidence().nvswitches = 0;
    scene.holder(812, 2, 500).state(812, 'Z');
    EXPECT_EQ(resets(scene),
              Lines{"GPU 2: held by pid 812, which has ended and was not reaped: end its parent"});
    scene = sick();
    scene.evidence().apps.push_back({std::nullopt, testing::uuid_of(2), Mebibytes{500}, ""});
    EXPECT_EQ(resets(scene), Lines{"GPU 2: held by a process without pid"});
}

TEST(Resets, AGpuWhoseOnlyClientsAreTheDaemonsOfTheStep) {
    auto scene = sick();
    scene.daemon(600, "/usr/bin/nvidia-persistenced")
        .in_cgroup(600, "/system.slice/nvidia-persistenced.service");
    EXPECT_EQ(resets(scene),
              Lines{"GPU 2: its device file is open in pid 600 (nvidia-persistenced), protected"});
    playbooks::ResetStep step;
    step.daemons = {"nvidia-persistenced.service"};
    EXPECT_EQ(resets(scene, step), Lines{"reset 2: sick: gpu-requires-reset"});
    step.daemons = {"nvidia-persistenced"};
    EXPECT_EQ(resets(scene, step), Lines{"reset 2: sick: gpu-requires-reset"});
    step.daemons = {"nvidia"};
    EXPECT_EQ(resets(scene, step).size(), 1U);
    EXPECT_TRUE(resets(scene, step)[0].starts_with("GPU 2: "));
}

TEST(Resets, NothingWhileAPeerBehindTheSameSwitchesIsHeld) {
    auto scene = sick();
    scene.holder(812, 5, 500);
    scene.get(812).open_minors = scene.get(812).mapped_minors = {5};
    EXPECT_EQ(resets(scene)[0], "reset 2: sick: gpu-requires-reset");
    scene.evidence().nvswitches = 4;
    EXPECT_EQ(resets(scene),
              (Lines{"GPU 2: the host has NVSwitches, and a GPU of it is in use by pid 812 (python3.11)",
                     "GPU 5: held by pid 812 (python3.11)"}));
    scene.evidence().nvswitches.reset();
    EXPECT_EQ(resets(scene)[0],
              "GPU 2: whether the host has NVSwitches is not known, and a GPU of it is in use "
              "by pid 812 (python3.11)");
}

TEST(Resets, ThoughAMonitorLooksAtAPeerBehindTheSameSwitches) {
    auto scene = sick();
    scene.evidence().nvswitches = 4;
    scene.daemon(600, "/usr/bin/nv-hostengine").get(600).open_minors = {5};
    scene.get(600).mapped_minors.clear();
    EXPECT_EQ(resets(scene), Lines{"reset 2: sick: gpu-requires-reset"});
    scene.process(812, 1, "python3").get(812).open_minors = {5};
    EXPECT_TRUE(resets(scene)[0].ends_with("is in use by pid 812 (python3.11)"));
}

TEST(Resets, NoGpuWithAMigInstanceThatMayBeInUse) {
    auto scene = sick();
    scene.evidence().mig_caps.push_back({2, 1, std::nullopt, 30});
    scene.process(812, 1, "python3").get(812).open_caps = {30};
    EXPECT_EQ(resets(scene), Lines{"GPU 2: its device file is open in pid 812 (python3.11)"});
    scene.evidence().mig_caps[0].gpu_minor = 3;
    EXPECT_EQ(resets(scene), Lines{"reset 2: sick: gpu-requires-reset"});
}

TEST(Resets, WhereItsDeviceFileIsNotKnownAnyCounts) {
    auto scene = sick();
    scene.opener(812);
    scene.get(812).open_minors = scene.get(812).mapped_minors = {3};
    (*scene.evidence().driver_gpus)[2].minor.reset();
    EXPECT_EQ(resets(scene), Lines{"GPU 2: its device file is open in pid 812 (python3.11)"});
}

// Each change takes something away that a reset needs.
TEST(Resets, NothingUnlessEveryPartOfTheProofIsThere) {
    const std::vector<std::pair<std::string, void (*)(Evidence&)>> changes{
        {"the login is not root", [](Evidence& e) { e.root = false; }},
        {"not every process could be looked at, so who uses it is not known",
         [](Evidence& e) { e.holders_visible = false; }},
        {"not every process could be looked at, so who uses it is not known",
         [](Evidence& e) { e.proc_hides_others = true; }},
        {"nvidia-smi hangs in the kernel: pid 77", [](Evidence& e) { e.stuck.push_back(77); }},
    };
    for (const auto& [why, change] : changes) {
        auto scene = sick();
        change(scene.evidence());
        EXPECT_EQ(resets(scene), Lines{"GPU 2: " + why});
    }
}

TEST(Resets, NothingWhereAHolderIsOnAGpuThatIsNotKnown) {
    auto scene = sick();
    scene.holder(812, 3, 1);
    scene.evidence().apps[0].uuid = "GPU-elsewhere";
    EXPECT_TRUE(
        resets(scene)[0].starts_with("GPU 2: the driver lists a holder on a GPU that is not known here"));
}

TEST(Resets, NoGpuWhoseBusIdIsNotKnownOrNotItsOwn) {
    auto scene = sick();
    scene.evidence().driver_gpus.reset();
    scene.evidence().gpus[2].bus_id = "0000:17:00.0; reboot";
    EXPECT_EQ(resets(scene), Lines{"GPU 2: its bus id is not known"});
    scene = sick();
    scene.evidence().gpus[2].bus_id = testing::bus_of(3);
    EXPECT_EQ(resets(scene), Lines{"GPU 2: another GPU has its bus id"});
}

TEST(Resets, NoGpuThatThePlaybookDoesNotJudge) {
    auto scene = sick();
    scene.ghost(4000, 3, 76107);
    Expectations only;
    only.only_gpus = {"3"};
    EXPECT_EQ(resets(scene, {}, {}, only), Lines{"reset 3: 76107 MiB without a holder"});
}

TEST(Resets, NothingOnAHostThatHasBootedSinceThePlan) {
    auto scene = sick();
    Consent consent;
    consent.boot_id = "another";
    ChoicePolicy policy;
    policy.consent = &consent;
    EXPECT_EQ(resets(scene, {}, policy), Lines{"GPU 2: the host has booted since the plan"});
    consent.boot_id = scene.evidence().boot_id;
    EXPECT_EQ(resets(scene, {}, policy), Lines{"GPU 2: not in the plan that was agreed to"});
    consent.resets = {testing::bus_of(2)};
    EXPECT_EQ(resets(scene, {}, policy), Lines{"reset 2: sick: gpu-requires-reset"});
}

TEST(Reboot, IsWithheldWhereSomeonesScheduledWorkLives) {
    Scene scene(8);
    EXPECT_EQ(reboot_withheld(scene.evidence(), {}), std::nullopt);
    scene.process(812, 1, "python3").in_cgroup(812, "/slurm/uid_1000/job_42/step_0");
    EXPECT_EQ(reboot_withheld(scene.evidence(), {}),
              "pid 812 (python3.11) of alice runs in slurm job 42; --include-jobs would include it");
    ChoicePolicy policy;
    policy.own_job = "42";
    EXPECT_EQ(reboot_withheld(scene.evidence(), policy), std::nullopt);
    policy.own_job = "43";
    EXPECT_NE(reboot_withheld(scene.evidence(), policy), std::nullopt);
    policy.include_jobs = true;
    EXPECT_EQ(reboot_withheld(scene.evidence(), policy), std::nullopt);
}

TEST(Reboot, IsWithheldWhereNotEverythingIsKnown) {
    Scene scene(8);
    scene.evidence().proc_hides_others = true;
    EXPECT_EQ(reboot_withheld(scene.evidence(), {}),
              "/proc shows only some processes, so whose work runs here is not known");
    scene.evidence().root = false;
    EXPECT_EQ(reboot_withheld(scene.evidence(), {}), "the login is not root");
    scene.evidence().complete = false;
    EXPECT_EQ(reboot_withheld(scene.evidence(), {}), "the last look at the host did not come to its end");
}

TEST(Reboot, IsWithheldWhereTheListOfProcessesWasCut) {
    Scene scene(8);
    scene.evidence().cuts = {"maps", "maps of 812"};
    EXPECT_EQ(reboot_withheld(scene.evidence(), {}), std::nullopt)
        << "what hangs in the kernel, a reboot cures";
    scene.evidence().cuts = {"files", "maps"};
    EXPECT_NE(reboot_withheld(scene.evidence(), {}).value_or("").find("list of its processes was cut"),
              std::string::npos);
    ChoicePolicy policy;
    policy.include_jobs = true;
    EXPECT_EQ(reboot_withheld(scene.evidence(), policy), std::nullopt);
}

TEST(Reboot, IsWithheldOnAHostThatHasBootedSinceThePlan) {
    Scene scene(8);
    Consent consent;
    consent.boot_id = "another";
    ChoicePolicy policy;
    policy.consent = &consent;
    EXPECT_EQ(reboot_withheld(scene.evidence(), policy), "the host has booted since the plan");
}

}  // namespace
}  // namespace cleanslate::agentless
