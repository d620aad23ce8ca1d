// What an operator reads of a host whose driver says more, less or something else than usual.

#include <map>
#include <set>

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

using simulated::Descriptions;

// A host of its own kind: with two GPUs, unless `description` says how many, and what the report must say.
struct Kind {
    const char* host;
    const char* description;
    const char* code;
    const char* part = "";  // of the finding
};

// A GPU that the driver calls broken, in an optional field or otherwise.
const Kind sick[] = {
    {"sick-recovery", "gpu 1 field gpu_recovery_action Drain and Reset", "recovery-action",
     "Drain and Reset"},
    {"sick-remap-pending", "gpu 1 field remapped_rows.pending Yes", "row-remap-pending"},
    {"sick-remap-failed", "gpu 1 field remapped_rows.failure Yes", "row-remap-failed"},
    {"sick-retired", "gpu 1 field retired_pages.pending Yes", "retired-pages-pending"},
    {"sick-fabric-state", "gpu 1 field fabric.state In Progress", "fabric-not-ready", "In Progress"},
    {"sick-fabric-status", "gpu all field fabric.state Completed\ngpu 1 field fabric.status Failure",
     "fabric-not-ready", "Failure"},
    {"sick-inforom", "gpu 1 state inforom", "inforom-corrupted"},
    {"sick-lost", "gpu 1 state lost", "gpu-lost"},
    {"sick-unknown-error", "gpu 1 state unknown-error", "gpu-unknown-error"},
    {"sick-reset", "gpu 1 state requires-reset", "gpu-requires-reset"},
};

// Worth knowing, and clean.
const Kind fine[] = {
    {"fine-mig-pending", "gpu 1 field mig.mode.pending Enabled", "mig-change-pending"},
    {"fine-ats", "gpu 1 field addressing_mode ATS", "addressing-mode"},
    {"fine-slow", "gpu 1 field clocks_event_reasons.hw_slowdown Active", "hw-slowdown"},
    {"fine-brake", "gpu 1 field clocks_event_reasons.hw_power_brake_slowdown Active", "hw-slowdown"},
    {"fine-hot", "gpu 1 field clocks_event_reasons.hw_thermal_slowdown Active", "thermal-slowdown"},
    {"fine-warm", "gpu 1 field clocks_event_reasons.sw_thermal_slowdown Active", "thermal-slowdown"},
    {"fine-persistence", "gpu 1 field persistence_mode Disabled", "persistence-off"},
    {"fine-reserved", "gpu 1 field memory.reserved 20000", "reserved-memory"},
    {"fine-lacks",
     "smi-lacks gpu_recovery_action fabric.state fabric.status\ngpu 1 field persistence_mode Disabled",
     "unknown-optional-field", "gpu_recovery_action"},
    {"fine-older-names",
     "smi-lacks clocks_event_reasons.hw_thermal_slowdown clocks_event_reasons.hw_slowdown\n"
     "gpu 1 field clocks_event_reasons.hw_thermal_slowdown Active",
     "thermal-slowdown"},
    {"fine-vgpu", "model NVIDIA A40-8Q\ntotal 8192\ngpu all field temperature.gpu [N/A]", "vgpu-guest"},
    {"fine-vfio", "pci-extra 0000:5e:00.0 0x030200 vfio-pci", "gpu-passed-through", "5e:00.0"},
    {"fine-mig", "gpu 1 mig 1g.18gb 1g.18gb", "mig-mode"},
    {"fine-mps",
     "process mps\n    exe /usr/local/bin/nvidia-cuda-mps-server\n    argv nvidia-cuda-mps-server\n    "
     "memory 1=30",
     "mps-server"},
    {"fine-470", "driver-version 470.57.02\nsmi-lacks gpu_recovery_action memory.reserved\ngpu all idle 250",
     "reserved-counted-in"},
    {"fine-unified",
     "gpu all field memory.used [N/A]\ngpu all field memory.total [N/A]\ninventory unified_memory true",
     "unified-memory"},
};

// nvidia-smi fails as a whole, or one witness lacks a GPU that another has.
const Kind unknown[] = {
    {"bad-not-loaded", "driver not-loaded", "driver-not-loaded"},
    {"bad-mismatch", "driver mismatch", "driver-mismatch"},
    {"bad-container", "driver nvml-unknown", "container-device-cgroup"},
    {"bad-permission", "driver no-permission", "permission-refused"},
    {"bad-no-devices", "driver no-devices", "no-devices"},
    {"bad-no-library", "driver no-library", "nvml-missing"},
    {"bad-missing", "driver missing", "nvidia-smi-missing"},
    {"bad-not-runnable", "driver not-runnable", "nvidia-smi-missing"},
    {"bad-not-available", "smi-status 3", "not-available"},
    {"bad-power-cable", "smi-status 8", "power-cable"},
    {"bad-interrupt", "smi-status 10", "driver-interrupt"},
    {"bad-not-implemented", "smi-status 13", "not-implemented"},
    {"bad-status", "smi-status 42", "nvidia-smi-failed", "42"},
    {"bad-field", "smi-lacks pstate", "unknown-field", "pstate"},
    {"bad-pci", "gpu 1 pci missing", "gpu-not-everywhere", "2a:00.0"},
    {"bad-driver", "gpu 1 driver missing", "gpu-not-everywhere", "2a:00.0"},
    {"bad-row", "gpu 1 row missing", "gpu-not-everywhere", "2a:00.0"},
    {"bad-list", "gpu 1 list missing", "gpu-not-everywhere", "2a:00.0"},
    {"bad-off-the-bus", "gpu 1 pci missing\ngpu 1 driver missing\ngpu 1 row missing\ngpu 1 list missing",
     "no-row"},
    {"bad-only-pci", "gpu 1 driver missing\ngpu 1 row missing\ngpu 1 list missing\ninventory gpus 1",
     "gpu-not-everywhere", "2a:00.0"},
    {"bad-no-driver", "pci-extra 0000:5e:00.0 0x030200 none", "gpu-without-driver", "5e:00.0"},
    {"bad-nouveau", "pci-extra 0000:5e:00.0 0x030000 nouveau", "gpu-without-driver", "nouveau"},
    {"bad-unified", "gpu all field memory.used [N/A]\ngpu all field memory.total [N/A]", "memory-not-shown"},
};

// Memory and processes that do not go together.
const Kind dirty[] = {
    {"dirty-idle", "gpu 1 idle 250", "memory-without-holder", "250"},
    {"dirty-graphics", "gpu 1 idle 300\nprocess desktop\n    exe /usr/local/bin/Xorg\n    devices cuda",
     "graphics-memory", "Xorg"},
    {"dirty-zombie",
     "process parent\n    exe /opt/serve/bin/python3\n    user alice\n    reaps no\n"
     "process undead\n    parent parent\n    exe /opt/serve/bin/python3\n    user alice\n    memory 1=2658\n"
     "    ends killed\n"
     "process copy\n    parent undead\n    user alice",
     "zombie-holder", "parent"},
    {"dirty-unified",
     "gpu all field memory.used [N/A]\ninventory unified_memory true\n"
     "process worker\n    exe /opt/serve/bin/python3\n    user alice\n    memory 1=4096",
     "held", "python3"},
    {"dirty-mig",
     "gpu 0 mig 7g.141gb\ngpu 1 mig 3g.71gb 1g.18gb\n"
     "process whole\n    exe /opt/serve/bin/python3\n    user bob\n    memory 0=2000\n    instance 0:0\n"
     "process tenant\n    exe /opt/serve/bin/python3\n    user alice\n    memory 1=1500\n    instance 1:1",
     "held", "python3"},
};

class EvidenceOnHosts : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (geteuid() != 0) return;
        const Descriptions hosts;
        const auto add = [&](const auto& kinds) {
            for (const Kind& kind : kinds)
                hosts.add(kind.host, "gpus 2\n" + std::string(kind.description) + "\n");
        };
        add(sick);
        add(fine);
        add(unknown);
        add(dirty);
        hosts.add("fine-plain", "gpus 2\npci-extra 0000:18:00.4 0x030200 nvidia physfn\n");
        hosts.add("note-ecc", "gpus 2\ngpu 1 field ecc.errors.uncorrected.volatile.total 3\n");
        fleet_ = new RunningFleet({hosts.folder()});
        if (fleet_->started().status == 0) operator_ = new Operator(*fleet_);
    }
    static void TearDownTestSuite() {
        delete operator_;
        delete fleet_;
        operator_ = nullptr;
        fleet_ = nullptr;
    }
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
    }
    // Every host of a kind has its verdict and its finding.
    template <class Kinds>
    static void expect_all(const Report& report, const Kinds& kinds, const std::string& verdict) {
        for (const Kind& kind : kinds) {
            SCOPED_TRACE(kind.host);
            EXPECT_EQ(report.verdict(kind.host), verdict) << report.host(kind.host).dump(1);
            EXPECT_TRUE(report.has_finding(kind.host, kind.code, kind.part))
                << report.host(kind.host).dump(1);
        }
    }
    static json gpu(const Report& report, const std::string& host, std::size_t index) {
        const auto& gpus = report.host(host)["gpus"];
        return gpus.size() > index ? gpus[index] : json();
    }
    static RunningFleet* fleet_;
    static Operator* operator_;
};
RunningFleet* EvidenceOnHosts::fleet_ = nullptr;
Operator* EvidenceOnHosts::operator_ = nullptr;

TEST_F(EvidenceOnHosts, ABrokenGpuMakesItsHostSickWithARemedyAndLeavesTheOtherClean) {
    const auto report = operator_->report({"check", "-l", "sick-*"});
    EXPECT_EQ(report.status, 1) << report.err;
    expect_all(report, sick, "sick");
    for (const Kind& kind : sick) {
        EXPECT_EQ(gpu(report, kind.host, 0)["verdict"], "clean") << kind.host;
        EXPECT_EQ(gpu(report, kind.host, 1)["verdict"], "sick") << kind.host;
        for (const auto& finding : report.findings(kind.host))
            EXPECT_TRUE(finding["code"] != kind.code || finding["remedy"].is_string()) << finding;
    }
}

TEST_F(EvidenceOnHosts, WhatIsOnlyWorthKnowingMakesANoteOnACleanHost) {
    const auto report = operator_->report({"check", "-l", "fine-*"});
    EXPECT_EQ(report.status, 0) << report.err;
    expect_all(report, fine, "clean");
    EXPECT_TRUE(report.findings("fine-plain").empty()) << report.host("fine-plain").dump(1);
}

TEST_F(EvidenceOnHosts, AFieldThatNvidiaSmiLacksCostsOnlyItself) {
    const auto report = operator_->report({"check", "-l", "fine-lacks,fine-older-names"});
    EXPECT_TRUE(report.has_finding("fine-lacks", "persistence-off"));
    const auto optional = gpu(report, "fine-lacks", 0)["optional"];
    EXPECT_FALSE(optional.contains("gpu_recovery_action")) << optional;
    EXPECT_EQ(optional["remapped_rows.pending"], "No") << optional;
    EXPECT_FALSE(report.has_finding("fine-older-names", "unknown-optional-field"))
        << report.host("fine-older-names").dump(1);
}

TEST_F(EvidenceOnHosts, AFailureOfTheWholeCommandHasItsOwnCodeAndIsNeverClean) {
    const auto report = operator_->report({"check", "-l", "bad-*"});
    EXPECT_EQ(report.status, 3) << report.err;
    expect_all(report, unknown, "unknown");
    // The docs know no cure for what is not available or not implemented.
    const std::set<std::string> incurable{"not-available", "not-implemented"};
    for (const Kind& kind : unknown)
        for (const auto& finding : report.findings(kind.host))
            EXPECT_TRUE(finding["code"] != kind.code || incurable.contains(kind.code) ||
                        finding["remedy"].is_string())
                << finding;
}

TEST_F(EvidenceOnHosts, MemoryThatNobodyOwnsUpToIsNamed) {
    const auto report = operator_->report({"check", "-l", "dirty-*"});
    EXPECT_EQ(report.status, 1) << report.err;
    expect_all(report, dirty, "dirty");
}

// nvidia-smi's list and the kernel's files have no name of an instance in common, so they are one entry only
// where there is one of each.
TEST_F(EvidenceOnHosts, MigInstancesStandBelowTheirGpuWithTheirOwnHolders) {
    const auto report = operator_->report({"check", "-l", "dirty-mig"});
    const auto one = gpu(report, "dirty-mig", 0)["instances"];
    ASSERT_EQ(one.size(), 1u) << report.host("dirty-mig").dump(1);
    EXPECT_EQ(one[0]["profile"], "7g.141gb");
    EXPECT_EQ(one[0]["gpu_instance"], 0);
    ASSERT_EQ(one[0]["holders"].size(), 1u);
    EXPECT_EQ(one[0]["holders"][0]["pid"], fleet_->find("dirty-mig", "whole").pid);

    std::multiset<std::string> listed;
    std::map<int, json> by_kernel;
    const auto two = gpu(report, "dirty-mig", 1);
    for (const auto& instance : two["instances"]) {
        if (instance["profile"].is_string()) listed.insert(instance["profile"]);
        if (instance["gpu_instance"].is_number()) by_kernel[instance["gpu_instance"]] = instance["holders"];
    }
    EXPECT_EQ(listed, (std::multiset<std::string>{"1g.18gb", "3g.71gb"}));
    ASSERT_EQ(by_kernel.size(), 2u) << report.host("dirty-mig").dump(1);
    EXPECT_TRUE(by_kernel[1].empty()) << by_kernel[1];
    ASSERT_EQ(by_kernel[7].size(), 1u);
    EXPECT_EQ(by_kernel[7][0]["pid"], fleet_->find("dirty-mig", "tenant").pid);
}

TEST_F(EvidenceOnHosts, UncorrectedEccErrorsAreNamedAndNeverMissed) {
    const auto report = operator_->report({"check", "-l", "note-ecc"});
    EXPECT_TRUE(report.has_finding("note-ecc", "ecc-uncorrected", "3")) << report.host("note-ecc").dump(1);
}

TEST_F(EvidenceOnHosts, ABaselineTakesIdleMemoryForCleanAndMoreThanThatNot) {
    const auto file = operator_->home() / "idle.yaml";
    const auto recorded = operator_->run({"baseline", "-l", "dirty-idle,fine-plain", "-o", file});
    EXPECT_EQ(recorded.status, 0) << recorded.out << recorded.err;
    const auto judged = operator_->report({"check", "-l", "dirty-idle,fine-plain", "--baseline", file});
    EXPECT_EQ(judged.status, 0) << judged.document.dump(1) << judged.err;
    EXPECT_EQ(gpu(judged, "dirty-idle", 1)["used_mib"], 250);
    // A GPU that it has no word of is judged as ever.
    const auto other = operator_->report({"check", "-l", "dirty-graphics", "--baseline", file});
    EXPECT_EQ(other.status, 1);
    EXPECT_TRUE(other.has_finding("dirty-graphics", "not-in-baseline"));
}

TEST_F(EvidenceOnHosts, ABaselineRecordsNoGpuThatIsHeldOrBroken) {
    const auto file = operator_->home() / "held.yaml";
    const auto recorded = operator_->run({"baseline", "-l", "dirty-mig,sick-reset", "-o", file});
    EXPECT_EQ(recorded.status, 1) << recorded.out << recorded.err;
    const auto text = contents(file);
    const auto report = operator_->report({"check", "-l", "dirty-mig,sick-reset"});
    EXPECT_EQ(text.find(gpu(report, "dirty-mig", 1)["uuid"].get<std::string>()), std::string::npos) << text;
    EXPECT_EQ(text.find(gpu(report, "sick-reset", 1)["uuid"].get<std::string>()), std::string::npos) << text;
}

TEST(Explain, SaysWhatEveryCodeOfAReportMeansAndRefusesOthers) {
    const auto ask = [](const std::string& code) {
        return run({{program(), "explain", code}, "", {}, std::chrono::seconds(20)});
    };
    for (const Kind& kind : sick) {
        const auto answer = ask(kind.code);
        EXPECT_EQ(answer.status, 0) << kind.code;
        for (const char* word : {kind.code, "sick", "meaning", "evidence", "remedy"})
            EXPECT_NE(answer.out.find(word), std::string::npos) << word << " in " << answer.out;
    }
    for (const Kind& kind : unknown) EXPECT_EQ(ask(kind.code).status, 0) << kind.code;
    EXPECT_EQ(ask("no-such-code").status, 2);
}

}  // namespace
}  // namespace cleanslate::testing
