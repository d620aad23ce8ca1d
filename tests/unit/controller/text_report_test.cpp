#include "controller/text_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string written(const Report& report, TextOptions options = {}) {
    std::string text;
    write_text(report, options, [&](std::string_view piece) { text += piece; });
    return text;
}

std::string of(std::vector<HostOutcome> hosts, std::string command = "check") {
    return written(report_of(std::move(hosts), std::move(command)));
}

TEST(TextReport, FoldsCleanHostsIntoOneLine) {
    EXPECT_EQ(of({clean_host("gpu01"), clean_host("gpu02"), clean_host("gpu03"), clean_host("gpu07")}),
              "gpu[01-03,07] (4) clean\n"
              "clean: 4 hosts: 4 clean; 32 GPUs: 32 clean; 1.9 s; exit 0: every host is proven clean\n");
}

TEST(TextReport, TellsADirtyHostInDetail) {
    Report report = report_of({clean_host("gpu01"), dirty_host("gpu02")});
    report.exit_status = 1;
    EXPECT_EQ(written(report),
              "gpu01 clean\n"
              "gpu02 dirty, 1.2 s\n"
              "    GPU 2       dirty   76107 / 143771 MiB  NVIDIA H200\n"
              "        pid 812 alice S, 3h10m, 76107 MiB: sleep 100000\n"
              "            keeps a dead process's memory through inherited descriptors\n"
              "    GPU 0-1,3-7 clean   at most 51 MiB\n"
              "dirty: 2 hosts: 1 clean, 1 dirty; 16 GPUs: 15 clean, 1 dirty; 1.9 s; exit 1: some hosts are "
              "dirty or "
              "sick\n");
}

TEST(TextReport, ShowsAGpusFindingThatItsHoldersDoNotTell) {
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

TEST(TextReport, FoldsGpusOfWhichTheSameIsToBeSaid) {
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
              "unknown: 1 host: 1 unknown; 8 GPUs: 1 clean, 7 unknown; 1.9 s; exit 0: every host is "
              "proven clean\n");
}

TEST(TextReport, SaysARemedyOnceForFindingsOfOneCode) {
    HostOutcome host = unreachable_host("gpu01");
    host.last.emplace();
    host.last->findings = {{Severity::unknown, "driver-not-loaded", "status 9", "modprobe nvidia"},
                           {Severity::unknown, "no-gpus", "no GPU was seen", "set gpus: 0"},
                           {Severity::unknown, "driver-not-loaded", "it has failed", "modprobe nvidia"}};
    EXPECT_THAT(of({host}), HasSubstr("    driver-not-loaded: status 9\n"
                                      "    driver-not-loaded: it has failed\n"
                                      "        -> modprobe nvidia\n"
                                      "    no-gpus: no GPU was seen\n"
                                      "        -> set gpus: 0\n"));
}

TEST(TextReport, SaysOnceThatAHolderHolds) {
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

TEST(TextReport, FoldsHostsThatShareAnError) {
    const std::string text = of({unreachable_host("gpu10"), clean_host("gpu11"), unreachable_host("gpu12"),
                                 unreachable_host("gpu13", "no route to host")});
    EXPECT_THAT(text, HasSubstr("gpu[10,12] (2) unreachable: connect: connection refused\n"
                                "    -> see that sshd runs there\n"));
    EXPECT_THAT(text, HasSubstr("gpu13 unreachable: connect: no route to host\n"));
}

TEST(TextReport, PutsTheWorstHostFirst) {
    HostOutcome sick = dirty_host("gpu05");
    sick.verdict = Verdict::sick;
    HostOutcome unknown = dirty_host("gpu03");
    unknown.verdict = Verdict::unknown;
    const std::string text =
        of({dirty_host("gpu01"), unreachable_host("gpu02"), unknown, clean_host("gpu04"), sick});
    const auto place = [&](const char* headline) { return text.find(headline); };
    EXPECT_EQ(place("gpu04 clean"), 0u);
    EXPECT_LT(place("gpu02 unreachable"), place("gpu03 unknown"));
    EXPECT_LT(place("gpu03 unknown"), place("gpu05 sick"));
    EXPECT_LT(place("gpu05 sick"), place("gpu01 dirty"));
    EXPECT_NE(place("gpu01 dirty"), std::string::npos);
}

TEST(TextReport, GivesACleanHostThatWasClearedOneLineOfWhatWasDone) {
    HostOutcome host = clean_host("gpu07");
    host.signals.push_back(signal_action(1, "TERM", holder(812, "root", "x"), SignalResult::ended));
    host.signals.push_back(signal_action(1, "TERM", holder(813, "root", "x"), SignalResult::alive));
    host.signals.push_back(signal_action(2, "KILL", holder(813, "root", "x"), SignalResult::ended));
    EXPECT_THAT(of({clean_host("gpu01"), host}, "clear"),
                StartsWith("gpu01 clean\ngpu07 clean: TERM to 2 (1 ended), KILL to 1 (ended); 1.2 s\n"));
}

TEST(TextReport, FoldsCleanHostsOnWhichTheSameWasDone) {
    HostOutcome first = clean_host("gpu01"), second = clean_host("gpu02");
    for (HostOutcome* host : {&first, &second})
        host->signals.push_back(signal_action(1, "TERM", holder(812, "root", "x"), SignalResult::ended));
    second.took = Milliseconds{14'000};
    EXPECT_THAT(of({first, second}, "clear"),
                StartsWith("gpu[01-02] (2) clean: TERM to 1 (ended); at most 14 s\n"));
}

TEST(TextReport, ShowsTheNotesOfCleanHostsOnce) {
    HostOutcome first = clean_host("gpu01"), second = clean_host("gpu02");
    for (HostOutcome* host : {&first, &second})
        host->last->findings = {
            {Severity::note, "holders-not-visible", "the login is not root", "log in as root"}};
    EXPECT_THAT(of({first, second, clean_host("gpu03")}),
                StartsWith("gpu03 clean\n"
                           "gpu[01-02] (2) clean\n"
                           "    holders-not-visible: the login is not root\n"
                           "        -> log in as root\n"));
}

TEST(TextReport, FoldsCleanHostsWhoseNotesDifferByANumberAlone) {
    HostOutcome first = clean_host("gpu01"), second = clean_host("gpu02");
    first.last->findings = {{Severity::note, "driver-slow", "a query took 5.2 s", "nvidia-smi -pm 1"}};
    second.last->findings = {{Severity::note, "driver-slow", "a query took 9.9 s", "nvidia-smi -pm 1"}};
    EXPECT_THAT(of({first, second}),
                StartsWith("gpu[01-02] (2) clean\n"
                           "    driver-slow: a query took 5.2 s (gpu01; the others alike)\n"
                           "        -> nvidia-smi -pm 1\n"
                           "clean: 2 hosts"));
}

const Finding persistence_off{Severity::note, "persistence-off", "persistence mode is off",
                              "nvidia-smi -pm 1"};
const Finding hot{Severity::note, "thermal-slowdown", "hw_thermal_slowdown is active", "look at the fans"};

TEST(TextReport, KeepsACleanFleetShortHoweverManyNotesItsGpusHave) {
    std::vector<HostOutcome> hosts;
    for (int i = 10; i < 74; ++i) hosts.push_back(clean_host("gpu" + std::to_string(i)));
    for (HostOutcome& host : hosts)
        for (GpuVerdict& gpu : host.last->gpus) gpu.findings = {persistence_off};
    for (const int i : {1, 5}) hosts[3].last->gpus[i].findings.push_back(hot);
    EXPECT_THAT(of(hosts), StartsWith("gpu[10-73] (64) clean\n"
                                      "note persistence-off: gpu[10-73] (64)\n"
                                      "note thermal-slowdown: gpu13 GPU 1,5\n"
                                      "clean: 64 hosts: "));
}

TEST(TextReport, SaysANoteOfSeveralGpusOnceBelowThem) {
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

TEST(TextReport, LeavesANoteOfOneDirtyGpuWhereItsOtherFindingsAre) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].findings.push_back(
        {Severity::note, "memory-unexplained", "90 MiB more than its holders have", "clear the host"});
    EXPECT_THAT(of({host}), HasSubstr("descriptors\n"
                                      "        memory-unexplained: 90 MiB more than its holders have\n"
                                      "            -> clear the host\n"
                                      "    GPU 0-1,3-7 clean"));
}

TEST(TextReport, KeepsNotesOutOfAPlanThatTellsAll) {
    HostOutcome host = planned_host("gpu02");
    for (GpuVerdict& gpu : host.last->gpus) gpu.findings.push_back(persistence_off);
    Report report = report_of({host}, "clear");
    report.dry_run = true;
    const std::string text = written(report);
    EXPECT_THAT(text, Not(HasSubstr("GPU 2  ")));
    EXPECT_THAT(text, HasSubstr("persistence-off: GPU 0-7: persistence mode is off\n"));
}

TEST(TextReport, SaysOfAHolderThatItHasNoDeviceFileOpen) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].holders[0].inherited = false;
    host.last->gpus[2].holders[0].without_device = true;
    EXPECT_THAT(of({host}), HasSubstr("            has no device file open under a name known here\n"));
}

TEST(TextReport, SaysALimitThatIsNotTheUsualOne) {
    HostOutcome host = dirty_host("gpu01");
    for (GpuVerdict& gpu : host.last->gpus) gpu.limit = Mebibytes{100};
    EXPECT_THAT(of({host}), Not(HasSubstr("limit")));
    for (GpuVerdict& gpu : host.last->gpus) gpu.limit = Mebibytes{400};
    EXPECT_THAT(of({host}), HasSubstr("dirty   76107 / 143771 MiB, limit 400 MiB  NVIDIA H200\n"));
    EXPECT_THAT(of({host}), HasSubstr("clean   at most 51 MiB, limit 400 MiB\n"));
    host.last->gpus[0].limit = Mebibytes{54};
    EXPECT_THAT(of({host}), HasSubstr("clean   at most 51 MiB, limits 54 to 400 MiB\n"));
}

TEST(TextReport, DoesNotShowMemoryThatWasNotShownAsNone) {
    HostOutcome host = dirty_host("gpu01");
    for (GpuVerdict& gpu : host.last->gpus)
        if (gpu.index != 2) gpu.used.reset();
    EXPECT_THAT(of({host}), HasSubstr("    GPU 0-1,3-7 clean   used memory not shown\n"));
}

TEST(TextReport, ShowsMigInstancesBelowTheirGpuWithTheirHoldersPids) {
    HostOutcome host = dirty_host("gpu01");
    auto& instances = host.last->gpus[2].instances;
    for (int device = 0; device < 4; ++device) {
        MigInstance& instance = instances.emplace_back();
        instance.device = device;
        instance.gpu_instance = 7 + device;
        instance.profile = device == 3 ? "3g.71gb" : "1g.18gb";
    }
    instances[1].holders = {{812, 5812}, {813, 5813}};
    EXPECT_THAT(of({host}),
                HasSubstr("            keeps a dead process's memory through inherited descriptors\n"
                          "        MIG 0,2   1g.18gb  no holder\n"
                          "        MIG 1     1g.18gb  pid 812, pid 813\n"
                          "        MIG 3     3g.71gb  no holder\n"
                          "    GPU 0-1,3-7 clean"));
}

TEST(TextReport, SaysOfNoInstanceThatNobodyHoldsItWhereThatCannotBeTold) {
    HostOutcome host = dirty_host("gpu01");
    auto& instances = host.last->gpus[2].instances;
    instances.resize(4);
    for (int i = 0; i < 2; ++i) {
        instances[i].device = i;
        instances[i].profile = "1g.18gb";
        // those two again, by the kernel's numbers
        instances[i + 2].gpu_instance = 7 + i;
        instances[i + 2].compute_instance = 0;
    }
    instances[3].holders = {{812, 5812}};
    EXPECT_THAT(of({host}), HasSubstr("        MIG 0-1   1g.18gb\n"
                                      "        MIG GI 8 CI 0 pid 812\n"
                                      "    GPU 0-1,3-7 clean"));
}

TEST(TextReport, KeepsTheInstancesOfCleanGpusToItself) {
    HostOutcome host = dirty_host("gpu01");
    for (GpuVerdict& gpu : host.last->gpus)
        if (gpu.index != 2) gpu.instances.resize(7);
    EXPECT_THAT(of({host}), Not(HasSubstr("MIG")));
}

TEST(TextReport, CountsWhatEndedAndNamesWhatDidNot) {
    HostOutcome host = dirty_host("gpu01");
    for (int pid = 100; pid < 108; ++pid)
        host.signals.push_back(signal_action(1, "TERM", holder(pid, "root", "worker"), SignalResult::ended));
    SignalAction stuck = signal_action(1, "TERM", holder(812, "alice", "sleep 100000"), SignalResult::alive);
    stuck.state = 'D';
    host.signals.push_back(stuck);
    const std::string text = of({host}, "clear");
    EXPECT_THAT(text, HasSubstr("    step 1 TERM: 8 processes ended, the last after 0.13 s\n"));
    EXPECT_THAT(text, HasSubstr("    step 1 TERM: pid 812 alice S, 3h10m: still alive (D): sleep 100000\n"));
}

TEST(TextReport, NamesTheOneProcessThatEnded) {
    HostOutcome host = dirty_host("gpu01");
    host.signals = {signal_action(1, "TERM", holder(70, "root", "serve"), SignalResult::ended)};
    EXPECT_THAT(of({host}, "clear"),
                HasSubstr("    step 1 TERM: pid 70 root S, 3h10m: ended after 0.13 s: serve\n"));
}

TEST(TextReport, NeverLosesASignalOfAHostThatWentAway) {
    HostOutcome host = unreachable_host("gpu01", "the connection was lost");
    host.signals.push_back(signal_action(2, "KILL", holder(812, "root", "x"), SignalResult::sent));
    HostOutcome other = unreachable_host("gpu02", "the connection was lost");
    const std::string text = of({host, other}, "clear");
    EXPECT_THAT(text,
                HasSubstr("step 2 KILL: pid 812 root S, 3h10m: sent; what became of it was not seen: x\n"));
    EXPECT_THAT(text, HasSubstr("gpu02 unreachable: connect: the connection was lost\n"));
}

TEST(TextReport, SaysWhatWasLeftAloneAndWhy) {
    HostOutcome host = dirty_host("gpu01");
    host.spared = {{{345, 99}, "scheduled-job", "in Slurm job 4242"}};
    host.spared_holders = {holder(345, "bob", "train.py")};
    EXPECT_THAT(of({host}, "clear"), HasSubstr("    left alone: pid 345 bob S, 3h10m: train.py\n"
                                               "        scheduled-job: in Slurm job 4242\n"));
}

TEST(TextReport, ShowsOpenersOfNoGpu) {
    HostOutcome host = clean_host("gpu01");
    host.verdict = Verdict::dirty;
    host.last->openers = {holder(77, "alice", "python x.py")};
    EXPECT_THAT(of({host}), HasSubstr("    GPU 0-7     clean   at most 51 MiB\n"
                                      "    opener pid 77 alice S, 3h10m: python x.py\n"));
}

TEST(TextReport, ShowsAGpuWithoutAnIndexByItsBusId) {
    HostOutcome host = clean_host("gpu01");
    host.verdict = Verdict::sick;
    GpuVerdict lost;
    lost.bus_id = "00000000:0b:00.0";
    lost.verdict = Verdict::sick;
    host.last->gpus.push_back(lost);
    EXPECT_THAT(of({host}), HasSubstr("    GPU 00000000:0b:00.0 sick    ? MiB\n"));
}

TEST(TextReport, OfADryRunIsThePlan) {
    Report report = report_of({clean_host("gpu01"), planned_host("gpu02")}, "clear");
    report.dry_run = true;
    report.exit_status = 1;
    const std::string text = written(report);
    EXPECT_THAT(text, StartsWith("gpu01 clean\n"
                                 "gpu02 dirty, 1.2 s\n"
                                 "    SIGNAL        PID USER      AGE GPUS     MIB COMMAND\n"
                                 "    TERM,KILL     812 alice   3h10m 2      76107 sleep 100000\n"
                                 "            keeps a dead process's memory through inherited descriptors\n"
                                 "    GPU 0-1,3-7 clean   at most 51 MiB\n"
                                 "dirty: 2 hosts: "));
    EXPECT_THAT(text, HasSubstr("dry run, nothing was signalled"));
}

TEST(TextReport, DoesNotRepeatAPlanThatWasJustShown) {
    Report report =
        report_of({planned_host("gpu01"), unreachable_host("gpu02"), clean_host("gpu03")}, "clear");
    report.dry_run = report.plan_shown = true;
    const std::string text = written(report);
    EXPECT_THAT(text, Not(HasSubstr("gpu01")));
    EXPECT_THAT(text, StartsWith("gpu03 clean\ngpu02 unreachable: "));
    EXPECT_THAT(text, HasSubstr("3 hosts: 1 clean, 1 dirty, 1 unreachable"));
}

// Every text of an outcome that can come from a host, as hostile as it gets.
HostOutcome hostile_host(std::string name) {
    const std::string evil = "\x1b[2J\x1b]0;pwned\x07\r\n" + name +
                             " clean\n\x9b"
                             "31m\xff\xe2\x80\xae";
    HostOutcome host = dirty_host(name);
    GpuVerdict& gpu = host.last->gpus[2];
    gpu.name = gpu.uuid = gpu.bus_id = evil;
    gpu.index.reset();
    Holder& holder = gpu.holders[0];
    holder.user = holder.protected_by = evil;
    holder.exe = holder.command = holder.unit = evil;
    holder.is_protected = true;
    gpu.findings[0] = {Severity::dirty, evil, evil, evil};
    gpu.instances = {{{}, {}, {}, evil, evil, {}}};
    host.last->gpus[3].findings = {{Severity::note, evil, evil, evil}};
    host.last->openers = {holder};
    host.last->findings = host.findings = {{Severity::note, evil, evil, evil}};
    host.signals = {signal_action(1, evil, holder, SignalResult::alive),
                    signal_action(1, evil, holder, SignalResult::ended)};
    host.commands.emplace_back().command = evil;
    host.commands[0].ran_to_end = true;
    host.commands[0].out = host.commands[0].err = host.commands[0].exit_signal = evil;
    host.spared = {{holder.key, evil, evil}};
    host.spared_holders = {holder};
    host.error = Error{evil, evil, evil, evil};
    return host;
}

TEST(TextReport, LetsNoByteOfAHostReachTheTerminalRaw) {
    HostOutcome planned = hostile_host("gpu02");
    planned.signals[0].result = SignalResult::planned;
    HostOutcome lost = unreachable_host("gpu03", hostile_host("x").error->message);
    lost.error = hostile_host("x").error;
    Report report = report_of({hostile_host("gpu01"), planned, lost}, "clear");
    for (const bool dry_run : {false, true}) {
        report.dry_run = dry_run;
        for (const char c : written(report)) {
            const auto byte = static_cast<unsigned char>(c);
            ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte < 0x7f)) << int(byte);
        }
    }
}

TEST(TextReport, LetsNoHostForgeAnotherHostsHeadline) {
    HostOutcome clean = clean_host("gpu00");
    clean.last->gpus[3] = hostile_host("gpu01").last->gpus[3];
    std::istringstream lines(of({clean, hostile_host("gpu01")}, "clear"));
    int headlines = 0;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with(' ')) ++headlines;
    EXPECT_EQ(headlines, 4);  // the hosts', the line of notes and the summary's
}

TEST(TextReport, FitsItsColumnsWithEightGpusInTrouble) {
    HostOutcome host = dirty_host("gpu01");
    for (GpuVerdict& gpu : host.last->gpus) {
        gpu.verdict = Verdict::dirty;
        gpu.holders = {holder(4'194'303, "a-user-with-a-long-name", std::string(500, 'x'))};
        gpu.findings = {{Severity::dirty, "memory-without-holder",
                         std::string("word ") + std::string(60, 'y') + " word", ""}};
    }
    std::istringstream lines(of({host}, "check"));
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(line.size() <= 80u || !line.starts_with(' ')) << line;
}

TEST(TextReport, ColoursVerdictsWhereItMay) {
    TextOptions options;
    options.color = true;
    const std::string text = written(report_of({clean_host("gpu01"), dirty_host("gpu02")}), options);
    EXPECT_THAT(text, HasSubstr("\x1b[32mclean\x1b[0m"));
    EXPECT_THAT(text, HasSubstr("\x1b[33mdirty\x1b[0m"));
    EXPECT_THAT(of({dirty_host("gpu02")}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace cleanslate::controller::testing
