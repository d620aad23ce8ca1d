// What hangs in the kernel for good: the first survey ends in time with what it has read until then, the next
// one sees what the first left behind and starts nothing beside it. A frozen process is in state D, and KILL
// does not end it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/scripts/freezer.hpp"
#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless::survey_tests {
namespace {

using cleanslate::testing::all_shells;
using cleanslate::testing::all_tools;
using cleanslate::testing::Freezer;
using cleanslate::testing::inside;
using cleanslate::testing::Runner;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

int lines_in(const std::string& file) {
    std::ifstream in(file);
    int count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
}

// The same, with what is in /run/tools first on PATH.
Runner with_own_tools(Runner runner) {
    std::string shell;
    for (const auto& word : runner.shell) shell += " " + word;
    runner.shell = {"/bin/sh", "-c", "PATH=/run/tools:$PATH exec" + shell};
    return runner;
}

void expect_stuck(const Evidence& evidence, Pid pid, const std::string& file, Pid reader) {
    ASSERT_EQ(evidence.stuck_reads.size(), 1u);
    EXPECT_EQ(evidence.stuck_reads[0].pid, pid);
    EXPECT_EQ(evidence.stuck_reads[0].file, file);
    EXPECT_EQ(evidence.stuck_reads[0].reader, reader);
}

// Of the next survey, which finds a wedged process and reads all others.
void expect_all_but(const Evidence& evidence, Pid wedged, Pid other) {
    EXPECT_TRUE(evidence.complete);
    EXPECT_THAT(evidence.cuts, IsEmpty());
    EXPECT_EQ(evidence.gpu_query.exit_status, 0);
    EXPECT_FALSE(evidence.holders_visible);
    EXPECT_EQ(evidence.unreadable, 1u);
    for (const auto& process : evidence.processes) {
        EXPECT_EQ(process.wedged, process.key.pid == wedged) << process.key.pid;
        EXPECT_EQ(process.argv.has_value(), process.key.pid != wedged) << process.key.pid;
        EXPECT_EQ(process.maps_readable, process.key.pid != wedged)
            << process.key.pid << " " << process.comm << " " << process.state << " of " << process.parent;
        EXPECT_TRUE(process.fds_readable) << process.key.pid;
    }
    EXPECT_THAT(process(evidence, wedged).open_minors, ElementsAre(0));
    EXPECT_THAT(process(evidence, other).mapped_minors, ElementsAre(1));
}

void two_holders(Sandbox& host, Seen& out) {
    host.device("nvidia0");
    host.device("nvidia1");
    out.ids["victim"] = host.process([] { open_file("/dev/nvidia0"); });
    out.ids["other"] = host.process([] { open_file("/dev/nvidia1", true); });
    host.file("/run/victim", std::to_string(out.ids["victim"]) + "\n");
}

class FrozenNvidiaSmi : public SurveyScript {};
INSTANTIATE_TEST_SUITE_P(Shells, FrozenNvidiaSmi, ::testing::ValuesIn(all_shells()), name_of);

TEST_P(FrozenNvidiaSmi, IsLeftBehindOnceAndSeenByTheNextSurvey) {
    SKIP_WITHOUT_FREEZER();
    for (const bool with_timeout : {true, false}) {
        const Freezer freezer;
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi("echo run >>/run/calls\nprintf '0, GPU-0000'\n" + freezer.freeze("$$"));
            two_holders(host, out);
            if (!with_timeout) host.hide("timeout");
            host.run(GetParam(), survey_script(hasty(20'000), nonce), out);
            out.earlier = out.out;
            out.ids["first_ms"] = static_cast<int>(out.milliseconds);
            out.ids["frozen"] = freezer.frozen();
            out.ids["in_D"] = Sandbox::state_of(out.ids["frozen"]) == 'D';
            // With more patience than the stuck one is old.
            host.run(GetParam(), survey_script(usual(), nonce), out);
            out.ids["calls"] = lines_in("/run/calls");
        });
        const auto next = read(seen);
        const auto first = read_text(seen.earlier);
        EXPECT_TRUE(seen.ids.at("in_D"));
        for (const auto* evidence : {&first, &next}) {
            EXPECT_TRUE(evidence->complete);
            EXPECT_TRUE(evidence->gpu_query.timed_out);
            EXPECT_FALSE(evidence->gpu_query.exit_status.has_value());
            EXPECT_THAT(evidence->stuck, ElementsAre(seen.ids.at("frozen")));
            EXPECT_THAT(evidence->cuts, IsEmpty());
            EXPECT_TRUE(evidence->optional_query.skipped && evidence->list_query.skipped);
            EXPECT_THAT(process(*evidence, seen.ids.at("victim")).open_minors, ElementsAre(0));
            EXPECT_EQ(process(*evidence, seen.ids.at("frozen")).state, 'D');
        }
        EXPECT_EQ(seen.ids.at("calls"), 1) << "another nvidia-smi was started beside the stuck one";
        EXPECT_LT(seen.ids.at("first_ms"), 20'000) << "its descriptors held the channel";
    }
}

TEST_P(FrozenNvidiaSmi, OfAnOptionalQuestionLeavesTheCoreAsItWas) {
    SKIP_WITHOUT_FREEZER();
    const Freezer freezer;
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi("echo run >>/run/calls\ncase $1 in -L) " + freezer.freeze("$$") + " ;; esac");
        auto request = hasty(20'000);
        request.budget = Milliseconds(2'000);
        host.run(GetParam(), survey_script(request, nonce), out);
        out.ids["frozen"] = freezer.frozen();
    });
    const auto evidence = read(seen);
    EXPECT_EQ(evidence.gpu_query.exit_status, 0);
    EXPECT_EQ(evidence.app_query.exit_status, 0);
    EXPECT_TRUE(evidence.list_query.timed_out);
    EXPECT_FALSE(evidence.listed.has_value());
    EXPECT_THAT(evidence.stuck, ElementsAre(seen.ids.at("frozen")));
}

TEST_P(FrozenNvidiaSmi, IsNamedAlsoWhereTheSurveysTimeIsOverBeforeItsOwnEndIsAwaited) {
    SKIP_WITHOUT_FREEZER();
    const Freezer freezer;
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi("echo run >>/run/calls\n" + freezer.freeze("$$"));
        host.run(GetParam(), survey_script(hasty(3'000), nonce), out);
        out.ids["frozen"] = freezer.frozen();
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_TRUE(evidence.gpu_query.timed_out);
    EXPECT_THAT(evidence.stuck, ElementsAre(seen.ids.at("frozen")));
}

class FrozenReader : public SurveyScript {};
INSTANTIATE_TEST_SUITE_P(Tools, FrozenReader, ::testing::ValuesIn(all_tools()), name_of);

// cat as it is, but at the victim's command line it freezes with that file open, the first time.
constexpr const char* freezing_cat =
    "#!/bin/sh\n"
    "[ $# -gt 0 ] || exec {0}\n"
    "read -r victim </run/victim\n"
    "for file in \"$@\"; do\n"
    "  if [ \"$file\" = \"$victim/cmdline\" ]; then\n"
    "    echo x >>/run/reads\n"
    "    exec 9<\"$file\"\n"
    "    {1}\n"
    "  fi\n"
    "  {0} \"$file\"\n"
    "done\n";

TEST_P(FrozenReader, OfACommandLineIsNamedThenFoundAndNotFollowedByAnother) {
    SKIP_WITHOUT_FREEZER();
    const Freezer freezer;
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi("echo run >>/run/calls");
        two_holders(host, out);
        const auto* cat = GetParam().tools == "busybox" ? "/bin/busybox cat" : "/bin/cat";
        host.file("/run/tools/cat", fmt::format(fmt::runtime(freezing_cat), cat, freezer.freeze("$$")));
        const auto runner = with_own_tools(GetParam());
        host.run(runner, survey_script(hasty(3'000), nonce), out);
        out.earlier = out.out;
        out.ids["first_ms"] = static_cast<int>(out.milliseconds);
        out.ids["frozen"] = freezer.frozen();
        host.run(runner, survey_script(usual(), nonce), out);
        out.ids["reads"] = lines_in("/run/reads");
        out.ids["still"] = Sandbox::state_of(out.ids["frozen"]) == 'D';
    });
    const auto next = read(seen);
    const auto first = read_text(seen.earlier);
    const auto victim = seen.ids.at("victim");
    EXPECT_TRUE(first.complete);
    EXPECT_EQ(first.gpu_query.exit_status, 0);
    EXPECT_THAT(first.cuts, Contains(fmt::format("cmdline of {}", victim)));
    EXPECT_THAT(first.cuts, Contains("argv"));
    EXPECT_THAT(first.cuts, Not(Contains("maps")));
    EXPECT_FALSE(first.holders_visible);
    expect_stuck(first, victim, "cmdline", 0);
    EXPECT_THAT(process(first, victim).open_minors, ElementsAre(0));
    EXPECT_THAT(process(first, seen.ids.at("other")).mapped_minors, ElementsAre(1));
    EXPECT_LT(seen.ids.at("first_ms"), 20'000);

    expect_stuck(next, victim, "cmdline", seen.ids.at("frozen"));
    expect_all_but(next, victim, seen.ids.at("other"));
    EXPECT_EQ(seen.ids.at("reads"), 1) << "a second reader was sent after the first";
    EXPECT_TRUE(seen.ids.at("still"));
}

// Right where the awk that reads files of /proc has the next one's path in `file`. Its program is a text in
// another's.
std::string at_each_file(std::string script, const std::string& more) {
    const std::string before = "file = ARGV[i]; ";
    const auto at = script.find(before);
    EXPECT_NE(at, std::string::npos);
    return at == std::string::npos ? script : script.insert(at + before.size(), more);
}

// That awk, which reads maps where grep does not, frozen where it has read the first line of the victim's
// maps.
std::string freezing_at_maps(std::string script, Pid victim, const Freezer& freezer) {
    return at_each_file(std::move(script),
                        fmt::format(R"(if (file == \"{}/maps\") {{ getline line < file; system(\"{}\") }} )",
                                    victim, freezer.freeze("$PPID")));
}

// grep as it is, but at the victim's maps it freezes with that file open.
constexpr const char* freezing_grep =
    "#!/bin/sh\n"
    "read -r victim </run/victim\n"
    "case \" $* \" in *\" $victim/maps \"*) ;; *) exec {0} \"$@\" ;; esac\n"
    "set -f\n"
    "IFS='\n'\n"
    "for word in \"$@\"; do\n"
    "  [ \"$word\" != \"$victim/maps\" ] || break\n"
    "  before=$before$word$IFS\n"
    "done\n"
    "{0} $before\n"
    "exec 9<\"$victim/maps\"\n"
    "read -r line <&9\n"
    "{1}\n";

// Notes each pid whose maps are read in /run/maps.
std::string noting_maps(std::string script) {
    return at_each_file(
        std::move(script),
        R"(if (file ~ \"maps$\") { split(file, part, \"/\"); system(\"echo \" part[1] \" >>/run/maps\") } )");
}

TEST_P(FrozenReader, OfMapsIsNamedThenFoundAndNotFollowedByAnother) {
    SKIP_WITHOUT_FREEZER();
    const Freezer freezer;
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        two_holders(host, out);
        const auto victim = out.ids["victim"];
        const auto* grep = GetParam().tools == "busybox" ? "/bin/busybox grep" : "/bin/grep";
        host.file("/run/tools/grep", fmt::format(fmt::runtime(freezing_grep), grep, freezer.freeze("$$")));
        const auto runner = with_own_tools(GetParam());
        host.run(runner, freezing_at_maps(survey_script(hasty(3'000), nonce), victim, freezer), out);
        out.earlier = out.out;
        out.ids["first_ms"] = static_cast<int>(out.milliseconds);
        out.ids["frozen"] = freezer.frozen();
        host.run(runner, noting_maps(survey_script(usual(), nonce)), out);
        std::ifstream in("/run/maps");
        for (int pid = 0; in >> pid;) out.ids["read " + std::to_string(pid)] = 1;
    });
    const auto next = read(seen);
    const auto first = read_text(seen.earlier);
    const auto victim = seen.ids.at("victim");
    EXPECT_TRUE(first.complete);
    EXPECT_EQ(first.gpu_query.exit_status, 0);
    EXPECT_THAT(first.cuts, Contains(fmt::format("maps of {}", victim)));
    EXPECT_FALSE(first.holders_visible);
    expect_stuck(first, victim, "maps", 0);
    EXPECT_THAT(process(first, victim).open_minors, ElementsAre(0)) << "what was read until then";
    EXPECT_LT(seen.ids.at("first_ms"), 20'000);

    expect_stuck(next, victim, "maps", seen.ids.at("frozen"));
    expect_all_but(next, victim, seen.ids.at("other"));
    EXPECT_FALSE(seen.ids.contains(fmt::format("read {}", victim)));
    EXPECT_TRUE(seen.ids.contains(fmt::format("read {}", seen.ids.at("other"))));
}

// A process in state D with `file` open: until the child of a vfork ends, its parent is.
int sleeping_reader(Sandbox& host, const std::string& file, unsigned uid) {
    int report[2];
    if (::pipe(report) != 0) throw std::runtime_error("pipe");
    host.process([&] {
        if (::fork() != 0) return;
        if (uid != 0 && (::setgid(uid) != 0 || ::setuid(uid) != 0)) ::_exit(1);
        const int self = ::open(file.c_str(), O_RDONLY) < 0 ? -1 : ::getpid();
        if (::write(report[1], &self, sizeof self) != sizeof self) ::_exit(1);
        if (::vfork() == 0)
            for (;;) ::pause();
    });
    int pid = -1;
    if (::read(report[0], &pid, sizeof pid) != sizeof pid || pid < 0) throw std::runtime_error("no reader");
    while (Sandbox::state_of(pid) != 'D') ::usleep(1000);
    return pid;
}

TEST_P(FrozenReader, OfAStrangerHidesNobody) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        two_holders(host, out);
        sleeping_reader(host, fmt::format("/proc/{}/cmdline", out.ids["victim"]), 65534);
        host.run(GetParam(), survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_THAT(evidence.stuck_reads, IsEmpty());
    EXPECT_FALSE(process(evidence, seen.ids.at("victim")).wedged);
    EXPECT_TRUE(process(evidence, seen.ids.at("victim")).argv.has_value());
    EXPECT_TRUE(evidence.holders_visible);
}

TEST_P(FrozenReader, IsFoundWhicheverOfTheFilesItHasOpen) {
    for (const std::string file : {"maps", "cmdline", "environ", "smaps", "status"}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi();
            two_holders(host, out);
            out.ids["reader"] = sleeping_reader(host, fmt::format("/proc/{}/{}", out.ids["victim"], file), 0);
            host.run(GetParam(), survey_script(usual(), nonce), out);
        });
        const auto evidence = read(seen);
        if (file == "status") {
            EXPECT_THAT(evidence.stuck_reads, IsEmpty()) << "it never hangs";
            EXPECT_TRUE(evidence.holders_visible);
        } else {
            expect_stuck(evidence, seen.ids.at("victim"), file, seen.ids.at("reader"));
            expect_all_but(evidence, seen.ids.at("victim"), seen.ids.at("other"));
        }
    }
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
