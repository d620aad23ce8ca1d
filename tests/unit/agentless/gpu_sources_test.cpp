// Expected against seen: the inventory, PCI, the kernel's driver, the rows and the list.

#include "agentless/gpu_sources.hpp"

#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using testing::codes;
using testing::fail_row;
using testing::find;
using testing::judge;
using testing::said;
using testing::Scene;
using testing::uuid_of;

HostVerdict judge_count_of(Scene& scene, int gpus) {
    Expectations expectations;
    expectations.gpus = gpus;
    return agentless::judge(scene.evidence(), expectations);
}

template <class List>
void drop(List& list, std::size_t i) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
}

std::string text_of(const HostVerdict& host, std::string_view code) {
    const auto* found = find(host.findings, code);
    return found == nullptr ? "none" : found->text;
}

TEST(Sources, ThatAgreeSayNothing) {
    Scene scene(8);
    scene.everywhere();
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "");
}

TEST(Sources, ThatWereNotAskedAreNotCompared) {
    Scene scene(8);
    scene.everywhere();
    scene.evidence().pci_gpus.reset();
    scene.evidence().listed.reset();
    scene.evidence().driver_gpus.reset();
    EXPECT_EQ(judge(scene).verdict, Verdict::clean);
}

// Each takes one GPU of eight away from one of them.
TEST(Sources, OfWhichOneLacksAGpuAreNamedWithItsBusId) {
    struct Case {
        void (*take)(Evidence&);
        std::string text;
    };
    const std::vector<Case> cases{
        {[](Evidence& e) { drop(*e.pci_gpus, 3); },
         "GPU 00000000:13:00.0: known to the kernel's driver, nvidia-smi's rows, nvidia-smi -L, not to PCI"},
        {[](Evidence& e) { drop(*e.driver_gpus, 3); },
         "GPU 00000000:13:00.0: known to PCI, nvidia-smi's rows, nvidia-smi -L, not to the kernel's driver"},
        {[](Evidence& e) { drop(e.gpus, 3); },
         "GPU 00000000:13:00.0: known to PCI, the kernel's driver, nvidia-smi -L, not to nvidia-smi's rows"},
        {[](Evidence& e) { drop(*e.listed, 3); },
         "GPU 00000000:13:00.0: known to PCI, the kernel's driver, nvidia-smi's rows, not to nvidia-smi -L"},
    };
    for (const auto& one : cases) {
        Scene scene(8);
        scene.everywhere();
        one.take(scene.evidence());
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown) << one.text;
        EXPECT_EQ(text_of(host, "gpu-not-everywhere"), one.text);
        EXPECT_EQ(judge_count_of(scene, 8).verdict, Verdict::unknown) << one.text;
    }
}

TEST(Sources, ThatLackSeveralGpusAreFolded) {
    Scene scene(8);
    scene.everywhere();
    scene.evidence().pci_gpus->resize(2);
    EXPECT_EQ(
        text_of(judge(scene), "gpu-not-everywhere"),
        "6 GPUs 00000000:12:00.0, 00000000:13:00.0, 00000000:14:00.0, 00000000:15:00.0 and 2 more: known "
        "to the kernel's driver, nvidia-smi's rows, nvidia-smi -L, not to PCI");
}

TEST(List, ThatKnowsAGpuBesidesIsNotCleanAndNamesItsUuid) {
    Scene scene(2);
    scene.everywhere();
    scene.evidence().listed->push_back({2, "NVIDIA H200", uuid_of(7), {}});
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_EQ(text_of(host, "gpu-not-everywhere"),
              "GPU " + uuid_of(7) + ": known to nvidia-smi -L, not to nvidia-smi's rows");
}

TEST(List, ThatFailedOrHasOddLinesProvesNoGpuMissing) {
    Scene failed(2);
    failed.everywhere();
    failed.evidence().listed->pop_back();
    failed.evidence().list_query.exit_status = 255;
    EXPECT_EQ(judge(failed).verdict, Verdict::clean);
    Scene odd(2);
    odd.everywhere();
    odd.evidence().listed->pop_back();
    odd.evidence().list_problems.emplace_back("what is this");
    EXPECT_EQ(judge(odd).verdict, Verdict::clean);
    Scene empty(2);
    empty.everywhere();
    empty.evidence().listed->clear();
    EXPECT_EQ(judge(empty).verdict, Verdict::clean);
}

TEST(Container, WithSomeOfTheMachinesGpusIsCleanWhereTheInventoryHasItsCount) {
    Scene scene(8);
    scene.everywhere();
    scene.evidence().gpus.resize(2);
    scene.evidence().driver_gpus->resize(2);
    scene.evidence().listed->resize(2);
    scene.evidence().proc_hides_others = true;
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
    EXPECT_EQ(judge_count_of(scene, 3).verdict, Verdict::unknown);
    const auto host = judge_count_of(scene, 2);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(find(host.findings, "gpu-not-everywhere")->severity, Severity::note);
    scene.evidence().proc_hides_others = false;
    EXPECT_EQ(judge_count_of(scene, 2).verdict, Verdict::unknown);
}

TEST(Pci, GpuThatIsGivenToAVirtualMachineIsNotCompared) {
    for (const auto* driver : {"vfio-pci", "nvgrace-gpu-vfio-pci"}) {
        Scene scene(2);
        scene.everywhere();
        scene.evidence().pci_gpus->push_back({bus_of(9), driver});
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::clean) << driver;
        EXPECT_EQ(codes(host.findings), "gpu-passed-through:note") << driver;
    }
}

TEST(Driver, GpuThatItIsToldToLeaveAloneIsNotCompared) {
    Scene scene(8);
    scene.everywhere();
    auto& evidence = scene.evidence();
    drop(evidence.gpus, 7);
    drop(*evidence.listed, 7);
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
    evidence.driver_gpus->back().excluded = true;
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(text_of(host, "gpu-excluded"), "GPU " + bus_of(7) + ": excluded by the driver's parameter");
    EXPECT_EQ(host.gpus.size(), 7u);
    EXPECT_EQ(judge_count_of(scene, 8).verdict, Verdict::unknown) << "the inventory wants it";
    drop(evidence.gpus, 3);
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown) << "another one is missing";
}

TEST(Driver, ThatExcludesAGpuWhichNvidiaSmiShowsIsNotBelieved) {
    Scene scene(2);
    scene.everywhere();
    scene.evidence().driver_gpus->back().excluded = true;
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
}

TEST(Pci, GpuWithoutTheDriverIsNotClean) {
    for (const auto* driver : {"", "nouveau", "evil\n\x1b[0m"}) {
        Scene scene(2);
        scene.everywhere();
        scene.evidence().pci_gpus->push_back({bus_of(9), driver});
        const auto host = judge(scene);
        EXPECT_EQ(host.verdict, Verdict::unknown) << driver;
        EXPECT_EQ(codes(host.findings), "gpu-without-driver:unknown") << driver;
        EXPECT_EQ(host.findings[0].text.find_first_of("\n\x1b"), std::string::npos);
        scene.evidence().proc_hides_others = true;
        EXPECT_EQ(judge(scene).verdict, Verdict::unknown) << driver;
        EXPECT_EQ(judge_count_of(scene, 2).verdict, Verdict::clean) << driver;
    }
}

TEST(Pci, WithoutAnyGpuWhereTheRowsAreAsManyAsTheInventorySaysIsANote) {
    Scene scene(1);
    scene.everywhere();
    scene.evidence().pci_gpus->clear();
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
    const auto host = judge_count_of(scene, 1);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "gpu-not-everywhere:note");
}

TEST(Pci, WithGpusOfAHostThatShouldHaveNoneIsNeverClean) {
    const auto scene_with = [](const char* driver) {
        Scene scene(0);
        scene.evidence().driver_gpus.reset();
        scene.evidence().gpu_query = {std::nullopt, false, true};
        scene.evidence().app_query = {std::nullopt, false, true};
        scene.evidence().pci_gpus = {{{bus_of(0), driver}}};
        return scene;
    };
    for (const auto* driver : {"", "nvidia", "nouveau"}) {
        auto scene = scene_with(driver);
        EXPECT_EQ(judge_count_of(scene, 0).verdict, Verdict::unknown) << driver;
        scene.evidence().proc_hides_others = true;
        EXPECT_EQ(judge_count_of(scene, 0).verdict, Verdict::unknown) << driver;
    }
    auto nvidia = scene_with("nvidia");
    EXPECT_EQ(text_of(judge_count_of(nvidia, 0), "gpu-not-everywhere"),
              "GPU 00000000:10:00.0: known to PCI, not to the inventory (gpus: 0)");
    auto none_has_it = scene_with("");
    EXPECT_EQ(text_of(judge_count_of(none_has_it, 0), "gpu-without-driver"),
              "GPU 00000000:10:00.0: no driver has it, and the inventory says gpus: 0");
    auto given_away = scene_with("vfio-pci");
    EXPECT_EQ(judge_count_of(given_away, 0).verdict, Verdict::clean);
    auto none = scene_with("");
    none.evidence().pci_gpus->clear();
    EXPECT_EQ(judge_count_of(none, 0).verdict, Verdict::clean);
    none.evidence().stuck = {4000};
    EXPECT_EQ(judge_count_of(none, 0).verdict, Verdict::unknown);
}

TEST(SickGpu, MayBeMissingAnywhereAndTheHostIsSickStill) {
    Scene scene(8);
    scene.everywhere();
    auto& e = scene.evidence();
    drop(e.gpus, 7);
    drop(*e.listed, 7);
    drop(*e.pci_gpus, 7);
    e.gpu_query.exit_status = e.app_query.exit_status = e.list_query.exit_status = 255;
    e.messages.push_back(
        said("Unable to determine the device handle for GPU 0000:17:00.0: GPU is lost.  "
             "Reboot the system to recover this GPU"));
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_EQ(codes(host.findings), "gpu-not-everywhere:note");
    EXPECT_EQ(host.findings[0].text, "GPU 00000000:17:00.0: sick, and gone from PCI as well");
    EXPECT_EQ(host.gpus[7].verdict, Verdict::sick);
}

TEST(SickGpu, ThatTheKernelsDriverHasDroppedIsKnownByItsMessage) {
    Scene scene(8);
    scene.everywhere();
    auto& e = scene.evidence();
    drop(e.gpus, 7);
    drop(*e.listed, 7);
    drop(*e.driver_gpus, 7);
    e.messages.push_back(said("GPU 0000:17:00.0: GPU is lost."));
    const auto host = judge_count_of(scene, 8);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_EQ(codes(host.findings), "");
}

TEST(SickGpu, DoesNotExcuseAnotherOneThatIsMissing) {
    Scene scene(8);
    scene.everywhere();
    fail_row(scene, 2);
    drop(*scene.evidence().pci_gpus, 5);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_NE(text_of(host, "gpu-not-everywhere").find(bus_of(5)), std::string::npos);
}

TEST(Row, ThatDoesNotSayOfWhichGpuItIsMayBeThatOfTheGpuWithoutOne) {
    Scene scene(8);
    scene.everywhere();
    scene.evidence().driver_gpus.reset();
    fail_row(scene, 2);
    fail_row(scene, 5);
    EXPECT_EQ(judge(scene).verdict, Verdict::sick);
    drop(scene.evidence().gpus, 0);
    const auto host = judge(scene);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_NE(find(host.findings, "gpu-not-everywhere"), nullptr);
}

TEST(Driver, ThatShowsQuestionMarksForAUuidIsJoinedByBusId) {
    Scene scene(2);
    scene.everywhere();
    for (auto& gpu : *scene.evidence().driver_gpus) gpu.uuid = "GPU-" + std::string(8, '?');
    EXPECT_EQ(judge(scene).verdict, Verdict::clean);
}

TEST(Driver, ThatHasAnotherUuidForAGpuThanItsRowIsNotClean) {
    Scene scene(2);
    scene.everywhere();
    scene.evidence().driver_gpus->at(1).uuid = uuid_of(7);
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
    EXPECT_EQ(text_of(judge(scene), "gpu-not-everywhere"), "GPU " + bus_of(1) + ": " + uuid_of(1) +
                                                               " in nvidia-smi's rows, " + uuid_of(7) +
                                                               " in the kernel's driver");
    scene.evidence().gpus[1].name = "GRID A100-8Q";  // a virtual one may have two
    EXPECT_EQ(judge(scene).verdict, Verdict::clean);
}

TEST(Rows, ThatHaveEachOthersUuidsAreNotClean) {
    Scene scene(2);
    scene.everywhere();
    std::swap(scene.evidence().gpus[0].uuid, scene.evidence().gpus[1].uuid);
    EXPECT_EQ(judge(scene).verdict, Verdict::unknown);
}

TEST(Container, DoesNotExplainThatRowsAndListDiffer) {
    Scene more(2);
    more.everywhere();
    more.evidence().proc_hides_others = true;
    EXPECT_EQ(judge_count_of(more, 2).verdict, Verdict::clean);
    auto fewer = more;
    more.evidence().listed->push_back({2, "NVIDIA H200", uuid_of(7), {}});
    EXPECT_EQ(judge_count_of(more, 2).verdict, Verdict::unknown);
    fewer.evidence().listed->pop_back();
    EXPECT_EQ(judge_count_of(fewer, 2).verdict, Verdict::unknown);
}

}  // namespace
}  // namespace cleanslate::agentless
