// Devices as the kernel shows them: GPUs on PCI, MIG capabilities, and who has their files open.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>

#include "base/text.hpp"
#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless::survey_tests {
namespace {

namespace fs = std::filesystem;
using cleanslate::testing::all_shells;
using cleanslate::testing::all_tools;
using cleanslate::testing::inside;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SurveyDevices : public SurveyScript {};
INSTANTIATE_TEST_SUITE_P(Shells, SurveyDevices, ::testing::ValuesIn(all_shells()), name_of);
INSTANTIATE_TEST_SUITE_P(Tools, SurveyDevices, ::testing::ValuesIn(all_tools()), name_of);

void empty_pci() {
    if (::mount("none", "/sys/bus/pci", "tmpfs", 0, "mode=755") != 0) throw std::runtime_error("mount pci");
    fs::create_directories("/sys/bus/pci/devices");
}

void pci_device(Sandbox& host, const std::string& bus_id, const std::string& device_class,
                const std::string& vendor, const std::string& driver = "") {
    const auto folder = "/sys/bus/pci/devices/" + bus_id;
    host.file(folder + "/class", device_class + "\n");
    host.file(folder + "/vendor", vendor + "\n");
    if (driver.empty()) return;
    fs::create_directories("/sys/bus/pci/drivers/" + driver);
    fs::create_directory_symlink("../../drivers/" + driver, folder + "/driver");
}

TEST_P(SurveyDevices, NamesEveryGpuOnPciAndWhoDrivesIt) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        empty_pci();
        pci_device(host, "0000:00:00.0", "0x060000", "0x8086");
        pci_device(host, "0000:0b:00.0", "0x030200", "0x10de", "nvidia");
        pci_device(host, "0000:0c:00.0", "0x030000", "0x10de", "vfio-pci");
        pci_device(host, "0000:0c:00.1", "0x040300", "0x10de", "snd_hda_intel");
        pci_device(host, "0000:0d:00.0", "0x030200", "0x10de");
        pci_device(host, "0000:0d:00.4", "0x030200", "0x10de", "nvidia");
        fs::create_directory_symlink("../0000:0d:00.0", "/sys/bus/pci/devices/0000:0d:00.4/physfn");
        pci_device(host, "0000:0e:00.0", "0x030000", "0x1002", "amdgpu");
        pci_device(host, "0000:0f:00.0", "0x068000", "0x10de", "nvidia-nvswitch");
        pci_device(host, "10000:a0:1f.0", "0x030200", "0x10de", "nouveau");
        host.run(GetParam(), survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    ASSERT_TRUE(evidence.pci_gpus.has_value());
    std::vector<std::string> found;
    for (const auto& gpu : *evidence.pci_gpus) found.push_back(gpu.bus_id + " " + gpu.driver);
    EXPECT_THAT(found, ElementsAre("00000000:0b:00.0 nvidia", "00000000:0c:00.0 vfio-pci",
                                   "00000000:0d:00.0 ", "00010000:a0:1f.0 nouveau"));
}

TEST_P(SurveyDevices, TellsNoPciFromNoGpuOnPci) {
    for (const bool there : {true, false}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi();
            empty_pci();
            if (!there) fs::remove("/sys/bus/pci/devices");
            host.run(GetParam(), survey_script(usual(), nonce), out);
        });
        const auto evidence = read(seen);
        ASSERT_EQ(evidence.pci_gpus.has_value(), there);
        if (there) {
            EXPECT_THAT(*evidence.pci_gpus, IsEmpty());
        }
    }
}

TEST_P(SurveyDevices, ShowsWhichCapabilityIsOfWhichMigInstanceAndWhoHasItOpen) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        const std::string folder = "/proc/driver/nvidia/capabilities/gpu1/mig/";
        const auto access = [](int minor) {
            return fmt::format("DeviceFileMinor: {}\nDeviceFileMode: 256\nDeviceFileModify: 1\n", minor);
        };
        host.file(folder + "gi9/access", access(147));
        host.file(folder + "gi9/ci0/access", access(148));
        host.file(folder + "gi9/ci1/access", "no minor here\nDeviceFileMinor: x\n");
        host.file(folder + "gi10/access", access(156));
        host.file("/proc/driver/nvidia/capabilities/mig/config", access(1));
        for (const char* name : {"nvidia-caps/nvidia-cap147", "nvidia-caps/nvidia-cap148", "nvidia1"})
            host.device(name);
        out.ids["worker"] = host.process([] {
            open_file("/dev/nvidia1");
            for (const char* name : {"148", "147", "148"})
                open_file(std::string("/dev/nvidia-caps/nvidia-cap") + name);
        });
        host.run(GetParam(), survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    std::vector<std::string> found;
    for (const auto& cap : evidence.mig_caps)
        found.push_back(fmt::format("gpu{} gi{} ci{} {}", cap.gpu_minor, cap.gpu_instance,
                                    cap.compute_instance.value_or(-1), cap.cap_minor));
    EXPECT_THAT(found, ::testing::UnorderedElementsAre("gpu1 gi9 ci-1 147", "gpu1 gi9 ci0 148",
                                                       "gpu1 gi10 ci-1 156"));
    const auto& worker = process(evidence, seen.ids.at("worker"));
    EXPECT_THAT(worker.open_caps, ElementsAre(147, 148));
    EXPECT_THAT(worker.open_minors, ElementsAre(1));
    EXPECT_TRUE(worker.opens_control);
}

TEST_P(SurveyDevices, BoundsWhatOneProcessCanSayByOpeningFilesOfManyNames) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        fs::create_directories("/dev/nvidia-caps");
        out.ids["worker"] = host.process([] {
            open_file("/dev/nvidia0");
            for (int i = 0; i < 400; ++i) {
                open_file(fmt::format("/dev/nvidia{}", 100'000 + i));
                open_file(fmt::format("/dev/nvidia-caps/nvidia-cap{}", 100'000 + i));
            }
            open_file("/dev/nvidia99999999");
            open_file("/dev/nvidia-caps/nvidia-cap99999999");
        });
        host.run(GetParam(), survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(process(evidence, seen.ids.at("worker")).opens_device());
    EXPECT_TRUE(evidence.holders_visible);
    for (const auto line : split(seen.out, '\n')) EXPECT_LT(line.size(), 20'000u);
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
