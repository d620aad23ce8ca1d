#include "controller/text_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "golden_report.hpp"
#include "text_of.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(TextReport, FoldsCleanHostsIntoOneLine) {
    EXPECT_EQ(of({clean_host("gpu01"), clean_host("gpu02"), clean_host("gpu03"), clean_host("gpu07")}),
              "gpu[01-03,07] (4) clean\n"
              "clean: 4 hosts; 32 GPUs; 1.9 s; exit 0: every host is proven clean\n");
}

TEST(TextReport, TellsADirtyHostInDetail) {
    Report report = report_of({clean_host("gpu01"), dirty_host("gpu02")});
    report.exit_status = 1;
    EXPECT_EQ(written(report),
              "gpu02 dirty, 1.2 s\n"
              "    GPU 2       dirty   76107 / 143771 MiB  NVIDIA H200\n"
              "        pid 812 alice S, 3h10m, 76107 MiB: sleep 100000\n"
              "            keeps a dead process's memory through inherited descriptors\n"
              "    GPU 0-1,3-7 clean   at most 51 MiB\n"
              "gpu01 clean\n"
              "dirty: 2 hosts: 1 clean, 1 dirty; 16 GPUs: 15 clean, 1 dirty; 1.9 s;\n"
              "    exit 1: some hosts are dirty or sick\n");
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
    EXPECT_EQ(place("gpu02 unreachable"), 0u);
    EXPECT_LT(place("gpu02 unreachable"), place("gpu03 unknown"));
    EXPECT_LT(place("gpu03 unknown"), place("gpu05 sick"));
    EXPECT_LT(place("gpu05 sick"), place("gpu01 dirty"));
    EXPECT_LT(place("gpu01 dirty"), place("gpu04 clean"));
    EXPECT_LT(place("gpu04 clean"), place("unreachable: 5 hosts"));
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

TEST(TextReport, GivesAHolderThatTheDriverDoesNotNameNoPid) {
    HostOutcome host = dirty_host("gpu01");
    Holder unnamed;
    unnamed.used = Mebibytes{518};
    host.last->gpus[2].holders = {unnamed};
    const std::string text = of({host});
    EXPECT_THAT(text, HasSubstr("        a process without pid, 518 MiB: (command line not seen)\n"));
    EXPECT_THAT(text, Not(HasSubstr("pid 0")));
}

TEST(TextReport, ShowsOpenersOfNoGpu) {
    HostOutcome host = clean_host("gpu01");
    host.verdict = Verdict::dirty;
    host.last->openers = {holder(77, "alice", "python x.py")};
    EXPECT_THAT(of({host}), HasSubstr("    GPU 0-7     clean   at most 51 MiB\n"
                                      "    opener pid 77 alice S, 3h10m: python x.py\n"));
}

TEST(TextReport, OfADryRunIsThePlan) {
    Report report = report_of({clean_host("gpu01"), planned_host("gpu02")}, "clear");
    report.dry_run = true;
    report.exit_status = 1;
    const std::string text = written(report);
    EXPECT_THAT(text, StartsWith("gpu02 dirty, 1.2 s\n"
                                 "    step 1 TERM holders: 1 process\n"
                                 "            PID USER      AGE GPUS     MIB COMMAND\n"
                                 "            812 alice   3h10m 2      76107 sleep 100000\n"
                                 "                keeps a dead process's memory through inherited "
                                 "descriptors\n"
                                 "    step 2 KILL holders: the same 1, if it is still there\n"
                                 "    step 3 verify: nothing to do now\n"
                                 "    GPU 0-1,3-7 clean   at most 51 MiB\n"
                                 "gpu01 clean\n"
                                 "dirty: 2 hosts: "));
    EXPECT_THAT(text, HasSubstr("dry run, nothing was signalled"));
}

TEST(TextReport, SaysThatAPlanWasDeclined) {
    Report report = report_of({planned_host("gpu01")}, "clear");
    report.dry_run = report.declined = true;
    const std::string text = written(report);
    EXPECT_THAT(text, HasSubstr("; declined, nothing was signalled"));
    EXPECT_THAT(text, Not(HasSubstr("dry run")));
}

TEST(TextReport, OfADryRunShowsWhatACleanHostKeepsForLackOfAFlag) {
    HostOutcome host = clean_host("gpu01");
    plan_act(host, act(CommandAction::Kind::clean_shm, 1, "rm /dev/shm/a", "3 MiB of bob")).withheld = true;
    Report report = report_of({host}, "clear");
    report.dry_run = true;
    EXPECT_THAT(written(report),
                HasSubstr("        would be withheld: rm /dev/shm/a\n            3 MiB of bob\n"));
}

TEST(TextReport, DoesNotRepeatAPlanThatWasJustShown) {
    Report report =
        report_of({planned_host("gpu01"), unreachable_host("gpu02"), clean_host("gpu03")}, "clear");
    report.dry_run = report.plan_shown = true;
    const std::string text = written(report);
    EXPECT_THAT(text, Not(HasSubstr("gpu01")));
    EXPECT_THAT(text, StartsWith("gpu02 unreachable: "));
    EXPECT_THAT(text, HasSubstr("\ngpu03 clean\n"));
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

// No line is longer than the page is wide, but for one that is a single word behind its indentation.
void expect_fits(const std::string& text, std::size_t columns) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto begin = line.find_first_not_of(' ');
        const bool one_word = line.find(' ', begin) == std::string::npos;
        EXPECT_TRUE(width_of(line) <= columns || one_word) << columns << ": " << line;
    }
}

TEST(TextReport, FitsItsColumnsWithEverythingThatAReportCanSay) {
    for (const std::size_t columns : {80u, 100u, 132u}) {
        TextOptions options;
        options.columns = columns;
        options.elsewhere = {"html: fleet.html", "csv: /srv/reports/2026/11/30/fleet.csv", "prom: a.prom"};
        for (const bool dry_run : {false, true}) {
            Report report = golden_report();
            report.dry_run = dry_run;
            expect_fits(written(report, options), columns);
        }
    }
}

std::string long_name(int number) {
    const std::string tail = std::to_string(number);
    return std::string(63 - tail.size(), 'n') + tail;
}

TEST(TextReport, StaysReadableWithLongNames) {
    std::vector<HostOutcome> hosts;
    for (int i = 11; i < 33; i += 2) hosts.push_back(clean_host(long_name(i)));
    hosts.push_back(dirty_host(long_name(40)));
    hosts.push_back(unreachable_host(long_name(50)));
    hosts.push_back(unreachable_host("login"));
    const std::string text = of(hosts);
    expect_fits(text, 80);
    EXPECT_THAT(text, HasSubstr("nnnnn[11,13,15,17,19,21,\n    23,25,27,29,31] (11) clean\n"));
}

TEST(TextReport, AlignsTheCellsOfSixteenGpus) {
    HostOutcome host = clean_host("gpu01");
    host.verdict = Verdict::dirty;
    for (int i = 8; i < 16; ++i) host.last->gpus.push_back(gpu(i, Verdict::clean, 0));
    for (const std::size_t i : {1u, 3u, 5u, 7u, 9u, 11u}) {
        host.last->gpus[i] = gpu(static_cast<int>(i), Verdict::dirty, 512);
        host.last->gpus[i].holders = {holder(70, "山田", "train.py")};
    }
    host.last->gpus[14] = gpu(14, Verdict::dirty, 140'000);
    host.last->gpus[14].holders = {holder(71, "bob", "serve.py")};
    EXPECT_THAT(of({host}),
                StartsWith("gpu01 dirty, 1.2 s\n"
                           "    GPU 1,3,5,7,9,11          dirty      512 / 143771 MiB  NVIDIA H200\n"
                           "        pid 70 山田 S, 3h10m: train.py\n"
                           "    GPU 14                    dirty   140000 / 143771 MiB  NVIDIA H200\n"
                           "        pid 71 bob S, 3h10m: serve.py\n"
                           "    GPU 0,2,4,6,8,10,12-13,15 clean   at most 51 MiB\n"));
}

TEST(TextReport, ColoursVerdictsWhereItMay) {
    TextOptions options;
    options.color = true;
    const std::string text = written(report_of({clean_host("gpu01"), dirty_host("gpu02")}), options);
    EXPECT_THAT(text, HasSubstr("\x1b[32mclean\x1b[0m"));
    EXPECT_THAT(text, HasSubstr("\x1b[33mdirty\x1b[0m"));
    EXPECT_THAT(of({dirty_host("gpu02")}), Not(HasSubstr("\x1b")));
}

std::string summary_of(const Report& report, std::size_t columns, std::vector<std::string> elsewhere = {}) {
    Page page(columns, false);
    write_summary(page, report, elsewhere);
    return page.take();
}

TEST(Summary, SaysWhereTheRestIs) {
    EXPECT_EQ(summary_of(report_of({clean_host("gpu01")}), 80, {"html: fleet.html"}),
              "clean: 1 host; 8 GPUs; 1.9 s; exit 0: every host is proven clean;\n"
              "    html: fleet.html\n");
}

TEST(Summary, BreaksBetweenItsPartsAlone) {
    Report report = golden_report();
    report.took = Milliseconds{1900};
    EXPECT_EQ(summary_of(report, 60),
              "unreachable:\n"
              "    14 hosts: 4 clean, 4 dirty, 1 sick, 3 unknown, 2 unreachable;\n"
              "    79 GPUs: 60 clean, 15 dirty, 3 sick, 1 unknown; 1.9 s;\n"
              "    exit 3: some hosts are unknown or unreachable\n");
}

TEST(Summary, SaysHowManyCleanHostsAreExpected) {
    Report report = report_of({clean_host("gpu01"), clean_host("gpu02"), dirty_host("gpu03")});
    report.expect_hosts = 2;
    EXPECT_THAT(summary_of(report, endless), HasSubstr("; exit 0: 2 hosts are clean, 2 expected\n"));
}

TEST(Summary, CountsHostsThatWereLeftForAReasonOfTheirOwn) {
    HostOutcome busy = dirty_host("gpu01"), vetoed = dirty_host("gpu02"), many = dirty_host("gpu03");
    busy.findings.push_back({Severity::unknown, "host-busy", "held by bob@laptop", ""});
    vetoed.findings.push_back({Severity::note, "vetoed", "the check ended with 1", ""});
    many.findings.push_back({Severity::dirty, "too-many-targets", "70 targets, 64 allowed", ""});
    const std::string text = of({busy, vetoed, vetoed, many}, "clear");
    EXPECT_THAT(text, HasSubstr("\n    1 busy, 2 vetoed, 1 with too many targets; 1.9 s;"));
    EXPECT_THAT(text, HasSubstr("    host-busy: held by bob@laptop\n"));
    EXPECT_THAT(of({dirty_host("gpu01")}), Not(HasSubstr("busy")));
}

}  // namespace
}  // namespace cleanslate::controller::testing
