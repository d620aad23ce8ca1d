// The operator's own command: its end is proven in-band, under every shell that may be /bin/sh there.

#include "agentless/command.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/support/subprocess.hpp"

namespace cleanslate::agentless {
namespace {

using namespace std::chrono_literals;

class UnderEachShell : public ::testing::TestWithParam<std::string> {
  protected:
    testing::Ended under_shell(const std::string& command, Milliseconds timeout) {
        const auto script = command_script(command, timeout, "0123abcd");
        auto ended =
            testing::run({{"/bin/sh", "-c", "command -v " + name() + " >/dev/null || exit 77; " + GetParam()},
                          script,
                          {},
                          20s});
        return ended;
    }
    std::string name() const { return GetParam().substr(5, GetParam().find(' ', 5) - 5); }  // behind "exec "
};

#define SKIP_MISSING_SHELL(ended) \
    if ((ended).status == 77 && (ended).out.empty()) GTEST_SKIP() << "no such shell here"

TEST_P(UnderEachShell, TheStatusAndTheOutputComeBack) {
    const auto ended = under_shell("echo hello; echo world >&2; exit 3", 10s);
    SKIP_MISSING_SHELL(ended);
    const auto read = read_command(ended.out, "0123abcd");
    EXPECT_EQ(read.exit_status, 3);
    EXPECT_EQ(read.out, "hello\n");
    EXPECT_NE(ended.err.find("world"), std::string::npos);
}

TEST_P(UnderEachShell, TheCommandsInputIsNotTheScript) {
    const auto ended = under_shell("cat; echo after", 10s);
    SKIP_MISSING_SHELL(ended);
    EXPECT_EQ(read_command(ended.out, "0123abcd").out, "after\n");
}

// How many processes sleep for `seconds` and a part of one, and a newline.
std::string sleeping(const std::string& seconds) {
    // Only what is called sleep: reading the command line of a process that hangs would hang.
    return testing::run(
               {{"/bin/sh", "-c",
                 "for p in /proc/[0-9]*; do read -r name <$p/comm && [ $name != sleep ] || cat $p/cmdline; "
                 "done 2>/dev/null"
                 " | tr '\\0' ' ' | grep -c \"sleep $1[.]\"",
                 "sh", seconds},
                "",
                {},
                10s})
        .out;
}

TEST_P(UnderEachShell, WhatIgnoresTermIsKilledAtTheTimeLimitWithItsChildren) {
    const auto nap = "6" + std::to_string(getpid());  // seconds that no other run of this test sleeps
    const auto ended =
        under_shell("trap '' TERM; sleep " + nap + ".1 & while :; do sleep " + nap + ".2; done", 1s);
    SKIP_MISSING_SHELL(ended);
    const auto read = read_command(ended.out, "0123abcd");
    EXPECT_EQ(read.exit_status, 137) << ended.err;
    EXPECT_LT(ended.took, 15s) << "nothing ended it";
    EXPECT_EQ(sleeping(nap), "0\n");
}

// With a newline in it a name looks like the stat of another process: here that the command is its own
// parent.
TEST_P(UnderEachShell, TheTimeLimitIsKeptWhateverProcessesCallThemselves) {
    auto nap = "7" + std::to_string(getpid());
    const auto once = [&] {
        return under_shell(
            "read -r job _ </proc/self/stat\n"
            "sh -c 'printf \"x\\n%s (\" \"$1\" >/proc/$$/comm; while :; do sleep " +
                nap + ".1; done' sh \"$job\" &\nwhile :; do sleep " + nap + ".2; done",
            2s);
    };
    auto ended = once();
    SKIP_MISSING_SHELL(ended);
    // ksh93 was seen to keep no limit, one time in very many and on a loaded machine, whatever the names.
    if (ended.took >= 15s) {
        nap = "8" + nap;
        ended = once();
    }
    EXPECT_EQ(read_command(ended.out, "0123abcd").exit_status, 143) << ended.err;
    EXPECT_LT(ended.took, 15s) << "nothing ended it";
    EXPECT_EQ(sleeping(nap), "0\n");
}

// A host's name or a verdict is data, whatever is in it.
TEST_P(UnderEachShell, TheEnvironmentIsDataAndRunsNothing) {
    const Environment environment{
        {"CLEANSLATE_HOST", "a'b\"c$(echo no)`echo no`\\d; echo no #\nend 0123abcd 0\nlast"},
        {"CLEANSLATE_FINDINGS", ""}};
    const auto script =
        command_script("sh -c 'printf %s \"<$CLEANSLATE_HOST><$CLEANSLATE_FINDINGS>\"; exit 4'", 10s,
                       "0123abcd", environment);
    const auto ended =
        testing::run({{"/bin/sh", "-c", "command -v " + name() + " >/dev/null || exit 77; " + GetParam()},
                      script,
                      {},
                      20s});
    SKIP_MISSING_SHELL(ended);
    const auto read = read_command(ended.out, "0123abcd");
    EXPECT_EQ(read.exit_status, 4) << ended.err;
    EXPECT_EQ(read.out, "<" + environment[0].second + "><>");
}

INSTANTIATE_TEST_SUITE_P(Shells, UnderEachShell,
                         ::testing::Values("exec dash -s", "exec busybox ash -s", "exec bash -s",
                                           "exec mksh -s", "exec ksh93 -s"),
                         [](const auto& shell) {
                             return shell.param.substr(5, shell.param.find(' ', 5) - 5);
                         });

TEST(ReadCommand, BelievesNoEndWithoutItsNonceAndNoStatusThatIsNone) {
    EXPECT_FALSE(read_command("hello\n\nend other 0\n", "n").exit_status);
    EXPECT_FALSE(read_command("hello\n\nend n 0", "n").exit_status) << "cut in the last line";
    EXPECT_FALSE(read_command("hello\n\nend n 256\n", "n").exit_status);
    EXPECT_FALSE(read_command("hello\n\nend n -1\n", "n").exit_status);
    EXPECT_FALSE(read_command("", "n").exit_status);
}

TEST(ReadCommand, KeepsWhatABackgroundChildPrintsLater) {
    const auto read = read_command("a\n\nend n 0\nlate\n", "n");
    EXPECT_EQ(read.exit_status, 0);
    EXPECT_EQ(read.out, "a\nlate\n");
}

}  // namespace
}  // namespace cleanslate::agentless
