// What descriptions say of optional fields, failures, PCI, MIG and memory that no GPU has of its own.

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/fleet/selftest/running_fleet.hpp"

namespace cleanslate::simulated {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* failing[] = {"not-loaded", "mismatch",     "nvml-unknown", "no-permission",
                                   "no-devices", "not-runnable", "no-library"};

void describe(const Descriptions& hosts) {
    hosts.add("fields",
              "gpus 2\n"
              "gpu 1 field gpu_recovery_action Drain and reset\n"
              "gpu 1 field clocks_throttle_reasons.hw_slowdown Active\n"
              "gpu all field memory.used [N/A]\n"
              "gpu 0 field memory.reserved 9000\n");
    hosts.add("older",
              "gpus 1\n"
              "driver-version 470.57.02\n"
              "smi-lacks gpu_recovery_action clocks_event_reasons.hw_slowdown fabric.state\n");
    hosts.add("status", "gpus 1\nsmi-status 8\n");
    hosts.add("mig",
              "gpus 2\nminors 1 0\n"
              "gpu 0 mig 1g.18gb 3g.71gb 1g.18gb\n"
              "process tenant\n"
              "    exe /opt/serve/bin/python3\n"
              "    memory 0=1000\n"
              "    instance 0:2\n");
    hosts.add("pci",
              "gpus 8\n"
              "gpu 1 pci missing\n"
              "gpu 2 driver missing\n"
              "gpu 3 row missing\n"
              "gpu 4 list missing\n"
              "pci-extra 0000:5e:00.0 0x030200 vfio-pci\n"
              "pci-extra 0000:5f:00.0 0x030000 none\n"
              "pci-extra 0000:5e:00.4 0x030200 nvidia physfn\n"
              "inventory gpus -\n"
              "inventory unified_memory true\n");
    for (const std::string state : failing) hosts.add(state, "gpus 1\ndriver " + state + "\n");
}

class Evidence : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (!can_simulate()) return;
        const Descriptions hosts;
        describe(hosts);
        fleet = new RunningFleet({hosts.folder()});
    }
    static void TearDownTestSuite() {
        delete fleet;
        fleet = nullptr;
    }
    void SetUp() override {
        NEEDS_ROOT();
        ASSERT_EQ(fleet->started().status, 0) << fleet->started().out;
    }
    static Output query(const std::string& host, const std::string& fields,
                        const std::string& more = ",noheader") {
        return fleet->on(host, "nvidia-smi --query-gpu=" + fields + " --format=csv" + more);
    }
    static RunningFleet* fleet;
};
RunningFleet* Evidence::fleet = nullptr;

TEST_F(Evidence, ShowsTheCellsOfTheDescriptionAndElseThoseOfAHealthyH200) {
    EXPECT_EQ(query("fields", "index,gpu_recovery_action,clocks_event_reasons.hw_slowdown,fabric.state").out,
              "0, None, Not Active, N/A\n1, Drain and reset, Active, N/A\n");
    EXPECT_EQ(query("fields", "memory.used,memory.reserved").out, "[N/A], 9000 MiB\n[N/A], 616 MiB\n");
}

TEST_F(Evidence, LosesEveryRowToAFieldThatItLacks) {
    const auto answer = query("older", "index,fabric.state");
    EXPECT_EQ(answer.status, 2);
    EXPECT_EQ(answer.out, "Field \"fabric.state\" is not a valid field to query.\n\n");
    EXPECT_EQ(query("older", "clocks_event_reasons.hw_slowdown").status, 2);
    EXPECT_EQ(query("older", "clocks_throttle_reasons.hw_slowdown", "").out,
              "clocks_throttle_reasons.hw_slowdown\nNot Active\n");
    const auto help = fleet->smi("older", "--help-query-gpu");
    EXPECT_THAT(help, Not(HasSubstr("gpu_recovery_action")));
    EXPECT_THAT(help, Not(HasSubstr("clocks_event_reasons.hw_slowdown")));
    EXPECT_THAT(help, HasSubstr("\n\"clocks_throttle_reasons.hw_slowdown\"\n"));
    EXPECT_THAT(help, HasSubstr("\n\"mig.mode.current\"\n"));
}

TEST_F(Evidence, HasADriverOfAnotherVersion) {
    EXPECT_EQ(query("older", "driver_version").out, "470.57.02\n");
    EXPECT_THAT(fleet->on("older", "cat /proc/driver/nvidia/version").out,
                testing::StartsWith("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02  "));
}

TEST_F(Evidence, FailsAsAWholeInTheWordsAndWithTheStatusOfTheRealOne) {
    const auto ends = [&](const char* host, int status, const std::string& text) {
        const auto answer = query(host, "index");
        EXPECT_EQ(answer.status, status) << host;
        EXPECT_THAT(answer.out, testing::StartsWith(text)) << host;
    };
    ends("not-loaded", 9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. ");
    ends("mismatch", 18, "Failed to initialize NVML: Driver/library version mismatch\n");
    ends("nvml-unknown", 255, "Failed to initialize NVML: Unknown Error\n");
    ends("no-permission", 4, "Failed to initialize NVML: Insufficient Permissions\n");
    ends("no-devices", 6, "No devices were found\n");
    ends("no-library", 12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. ");
    ends("not-runnable", 127, "");
    ends("status", 8, "0\n");
}

TEST_F(Evidence, ListsMigInstancesBelowTheirGpuAndGivesTheirFilesToWhoUsesThem) {
    EXPECT_THAT(fleet->smi("mig", "-L"),
                testing::MatchesRegex("GPU 0: NVIDIA H200 \\(UUID: GPU-[-0-9a-f]*\\)\n"
                                      "  MIG 1g.18gb     Device  0: \\(UUID: MIG-[-0-9a-f]*\\)\n"
                                      "  MIG 3g.71gb     Device  1: \\(UUID: MIG-[-0-9a-f]*\\)\n"
                                      "  MIG 1g.18gb     Device  2: \\(UUID: MIG-[-0-9a-f]*\\)\n"
                                      "GPU 1: NVIDIA H200 \\(UUID: GPU-[-0-9a-f]*\\)\n"));
    EXPECT_EQ(query("mig", "mig.mode.current,memory.used").out, "Enabled, 1064 MiB\nDisabled, 4 MiB\n");
    // GPU 0 has minor 1, and its second 1g instance is GPU instance 8.
    const auto access = [&](const std::string& path) {
        return fleet->on("mig", "head -n 1 /proc/driver/nvidia/capabilities/gpu1/mig/" + path + "/access")
            .out;
    };
    EXPECT_EQ(access("gi8") + access("gi8/ci0"), "DeviceFileMinor: 210\nDeviceFileMinor: 211\n");
    const auto pid = std::to_string(fleet->find("mig", "tenant").pid);
    EXPECT_EQ(
        fleet->on("mig", "readlink /proc/" + pid + "/fd/* | grep -c 'nvidia-caps/nvidia-cap21[01]$'").out,
        "2\n");
    EXPECT_EQ(
        fleet->smi("mig", "--query-compute-apps=gpu_uuid,pid --format=csv,noheader"),
        fleet->smi("mig", "--query-gpu=uuid --format=csv,noheader -i 0").substr(0, 40) + ", " + pid + "\n");
}

TEST_F(Evidence, LeavesOutAGpuWhereTheDescriptionSays) {
    const auto bus_ids = [&](const std::string& command) { return fleet->on("pci", command).out; };
    EXPECT_EQ(
        bus_ids("cd /sys/bus/pci/devices; for d in *; do read -r v <$d/vendor; read -r c <$d/class; "
                "case $v$c in 0x10de0x0302*) [ -e $d/physfn ] || echo $d $(basename $(readlink $d/driver));; "
                "esac; done"),
        "0000:18:00.0 nvidia\n0000:3a:00.0 nvidia\n0000:5d:00.0 nvidia\n0000:5e:00.0 vfio-pci\n"
        "0000:9a:00.0 nvidia\n0000:ab:00.0 nvidia\n0000:ba:00.0 nvidia\n0000:db:00.0 nvidia\n");
    EXPECT_EQ(bus_ids("ls /sys/bus/pci/devices | grep -c '^0000:0[25]\\|^0000:29'"), "3\n");
    EXPECT_EQ(
        bus_ids("cat /sys/bus/pci/devices/0000:5f:00.0/class; ls -d /sys/bus/pci/devices/0000:5f:00.0/driver "
                "2>/dev/null"),
        "0x030000\n");
    EXPECT_EQ(bus_ids("ls /proc/driver/nvidia/gpus | tr '\\n' ' '"),
              "0000:18:00.0 0000:2a:00.0 0000:5d:00.0 0000:9a:00.0 0000:ab:00.0 0000:ba:00.0 0000:db:00.0 ");
    EXPECT_EQ(query("pci", "index").out, "0\n1\n2\n4\n5\n6\n7\n");
    EXPECT_THAT(fleet->smi("pci", "-L"), testing::AllOf(HasSubstr("GPU 3: "), Not(HasSubstr("GPU 4: "))));
}

TEST_F(Evidence, WritesTheDescriptionsVariablesIntoTheInventory) {
    std::ifstream file(fleet->folder() + "/inventory.yaml");
    std::ostringstream text;
    text << file.rdbuf();
    const auto host = text.str().substr(text.str().find("    pci:\n"), 90);
    EXPECT_THAT(host, HasSubstr("      unified_memory: true\n"));
    EXPECT_THAT(host, Not(HasSubstr("gpus")));
}

}  // namespace
}  // namespace cleanslate::simulated
