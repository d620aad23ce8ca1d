#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/host_block.hpp"
#include "text_of.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Finding persistence_off{Severity::note, "persistence-off", "persistence mode is off",
                              "nvidia-smi -pm 1"};
const Finding hot{Severity::note, "thermal-slowdown", "hw_thermal_slowdown is active", "look at the fans"};

TEST(GpuBlock, KeepsACleanFleetShortHoweverManyNotesItsGpusHave) {
    std::vector<HostOutcome> hosts;
    for (int i = 10; i < 74; ++i) hosts.push_back(clean_host("gpu" + std::to_string(i)));
    for (HostOutcome& host : hosts)
        for (GpuVerdict& gpu : host.last->gpus) gpu.findings = {persistence_off};
    for (const int i : {1, 5}) hosts[3].last->gpus[i].findings.push_back(hot);
    EXPECT_THAT(of(hosts), StartsWith("gpu[10-73] (64) clean\n"
                                      "note persistence-off: gpu[10-73] (64): persistence mode is off\n"
                                      "note thermal-slowdown: gpu13 GPU 1,5: hw_thermal_slowdown is active\n"
                                      "clean: 64 hosts; 512 GPUs; "));
}

TEST(GpuBlock, SaysANoteOfSeveralGpusOnceBelowThem) {
    HostOutcome host = dirty_host("gpu01");
    for (GpuVerdict& gpu : host.last->gpus) gpu.findings.push_back(persistence_off);
    host.last->gpus[4].findings.push_back(hot);
    EXPECT_THAT(of({host}),
                HasSubstr("    GPU 2       dirty   76107 / 143771 MiB  NVIDIA H200\n"
                          "        pid 812 alice S, 3h10m, 76107 MiB: sleep 100000\n"
                          "            keeps a dead process's memory through inherited descriptors\n"
                          "    GPU 0-1,3-7 clean   at most 51 MiB\n"
                          "        persistence-off: GPU 0-7: persistence mode is off\n"
                          "            -> nvidia-smi -pm 1\n"
                          "        thermal-slowdown: GPU 4: hw_thermal_slowdown is active\n"
                          "            -> look at the fans\n"
                          "dirty: 1 host"));
}

// Without the page's own escape codes: they are the only ones.
std::string without_codes(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b')
            i = text.find('m', i);
        else
            plain += text[i];
    }
    return plain;
}

TEST(GpuBlock, IsTheSameInColourForGpusThatShareTheirLines) {
    HostOutcome host = dirty_host("gpu01");
    for (const std::size_t i : {4U, 5U, 7U}) {
        const int index = *host.last->gpus[i].index;
        host.last->gpus[i] = host.last->gpus[2];
        host.last->gpus[i].index = index;
    }
    host.last->gpus[5].holders[0].key.pid = 813;
    const Report report = report_of({host});
    TextOptions colored;
    colored.color = true;
    const std::string text = written(report, colored);
    EXPECT_THAT(text, HasSubstr("\x1b["));
    EXPECT_EQ(without_codes(text), written(report));
    EXPECT_THAT(written(report), HasSubstr("    GPU 2,4,7   dirty   76107 / 143771 MiB  NVIDIA H200\n"
                                           "        pid 812 alice"));
    EXPECT_THAT(written(report), HasSubstr("    GPU 5       dirty   76107 / 143771 MiB  NVIDIA H200\n"
                                           "        pid 813 alice"));
}

TEST(GpuBlock, LeavesANoteOfOneDirtyGpuWhereItsOtherFindingsAre) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].findings.push_back(
        {Severity::note, "memory-unexplained", "90 MiB more than its holders have", "clear the host"});
    EXPECT_THAT(of({host}), HasSubstr("descriptors\n"
                                      "        memory-unexplained: 90 MiB more than its holders have\n"
                                      "            -> clear the host\n"
                                      "    GPU 0-1,3-7 clean"));
}

TEST(GpuBlock, KeepsNotesOutOfAPlanThatTellsAll) {
    HostOutcome host = planned_host("gpu02");
    for (GpuVerdict& gpu : host.last->gpus) gpu.findings.push_back(persistence_off);
    Report report = report_of({host}, "clear");
    report.dry_run = true;
    const std::string text = written(report);
    EXPECT_THAT(text, Not(HasSubstr("GPU 2  ")));
    EXPECT_THAT(text, HasSubstr("persistence-off: GPU 0-7: persistence mode is off\n"));
}

TEST(GpuBlock, SaysALimitThatIsNotTheUsualOne) {
    HostOutcome host = dirty_host("gpu01");
    for (GpuVerdict& gpu : host.last->gpus) gpu.limit = Mebibytes{100};
    EXPECT_THAT(of({host}), Not(HasSubstr("limit")));
    for (GpuVerdict& gpu : host.last->gpus) gpu.limit = Mebibytes{400};
    EXPECT_THAT(of({host}), HasSubstr("dirty   76107 / 143771 MiB, limit 400 MiB  NVIDIA H200\n"));
    EXPECT_THAT(of({host}), HasSubstr("clean   at most 51 MiB, limit 400 MiB\n"));
    host.last->gpus[0].limit = Mebibytes{54};
    EXPECT_THAT(of({host}), HasSubstr("clean   at most 51 MiB, limits 54 to 400 MiB\n"));
}

TEST(GpuBlock, SaysOfAHolderThatItHasNoDeviceFileOpen) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].holders[0].inherited = false;
    host.last->gpus[2].holders[0].without_device = true;
    EXPECT_THAT(of({host}), HasSubstr("            has no device file open under a name known here\n"));
}

TEST(GpuBlock, DoesNotShowMemoryThatWasNotShownAsNone) {
    HostOutcome host = dirty_host("gpu01");
    for (GpuVerdict& gpu : host.last->gpus)
        if (gpu.index != 2) gpu.used.reset();
    EXPECT_THAT(of({host}), HasSubstr("    GPU 0-1,3-7 clean   used memory not shown\n"));
}

TEST(GpuBlock, ShowsAGpusFindingThatItsHoldersDoNotTell) {
    HostOutcome host = dirty_host("gpu02");
    host.last->gpus[2].holders.clear();
    host.last->gpus[2].findings.push_back(
        {Severity::dirty, "memory-without-holder", "no holder is to be seen", "reset the GPU"});
    EXPECT_THAT(of({host}), HasSubstr("    GPU 2       dirty   76107 / 143771 MiB  NVIDIA H200\n"
                                      "        memory-in-use: 76107 MiB used, the limit is 100 MiB\n"
                                      "            -> clear the host\n"
                                      "        memory-without-holder: no holder is to be seen\n"
                                      "            -> reset the GPU\n"));
}

TEST(GpuBlock, FoldsGpusOfWhichTheSameIsToBeSaid) {
    HostOutcome host = clean_host("gpu01");
    host.verdict = Verdict::unknown;
    for (GpuVerdict& gpu : host.last->gpus) {
        if (gpu.index == 5) continue;
        gpu.verdict = Verdict::unknown;
        gpu.used.reset();
        gpu.findings = {{Severity::unknown, "no-row", "no row for this GPU", ""}};
    }
    EXPECT_EQ(of({host}),
              "gpu01 unknown, 1.2 s\n"
              "    GPU 0-4,6-7 unknown ? / 143771 MiB  NVIDIA H200\n"
              "        no-row: no row for this GPU\n"
              "    GPU 5       clean   at most 0 MiB\n"
              "unknown: 1 host; 8 GPUs: 1 clean, 7 unknown; 1.9 s;\n"
              "    exit 0: every host is proven clean\n");
}

TEST(GpuBlock, SaysOnceThatAHolderHolds) {
    HostOutcome host = dirty_host("gpu02");
    GpuVerdict& gpu = host.last->gpus[2];
    Holder ghost;
    ghost.key.pid = 70;
    ghost.ghost = true;
    ghost.used = Mebibytes{76'107};
    gpu.holders.insert(gpu.holders.begin(), ghost);
    for (const char* code : {"held", "ghost"})
        gpu.findings.push_back({Severity::dirty, code, "said again", ""});
    host.last->findings.push_back({Severity::dirty, "opener", "said again", ""});
    const std::string text = of({host});
    EXPECT_THAT(text, Not(HasSubstr("said again")));
    EXPECT_THAT(text,
                HasSubstr("        pid 70, 76107 MiB: (ghost: the driver lists it, it no longer lives)\n"
                          "        pid 812 alice"));
}

TEST(GpuBlock, ShowsAGpuWithoutAnIndexByItsBusId) {
    HostOutcome host = clean_host("gpu01");
    host.verdict = Verdict::sick;
    GpuVerdict lost;
    lost.bus_id = "00000000:0b:00.0";
    lost.verdict = Verdict::sick;
    host.last->gpus.push_back(lost);
    EXPECT_THAT(of({host}), HasSubstr("    GPU 00000000:0b:00.0 sick    ? MiB\n"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
