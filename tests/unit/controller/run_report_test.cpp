#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/text_report.hpp"
#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string of(std::vector<HostOutcome> hosts, int exit_status = 0) {
    Report report = report_of(std::move(hosts), "run");
    report.exit_status = exit_status;
    std::string text;
    write_run_text(report, {}, [&](std::string_view piece) { text += piece; });
    return text;
}

TEST(RunReport, FoldsIdenticalOutput) {
    EXPECT_EQ(of({asked_host("gpu01", 0, "6.1.0\n"), asked_host("gpu02", 0, "6.1.0\n"),
                  asked_host("gpu03", 0, "6.8\n")}),
              "gpu[01-02] (2): exit 0\n"
              "    6.1.0\n"
              "gpu03: exit 0\n"
              "    6.8\n"
              "3 hosts: 3 ok; 1.9 s; exit 0: the command succeeded everywhere\n");
}

TEST(RunReport, TellsLostHostsAndFailuresFirst) {
    HostOutcome bad = asked_host("gpu01", 7, "");
    bad.commands[0].err = "no such thing\n";
    EXPECT_EQ(of({unreachable_host("gpu03"), bad, asked_host("gpu02", 0, "")}, 3),
              "gpu03: unreachable: connect: connection refused\n"
              "    -> see that sshd runs there\n"
              "gpu01: exit 7\n"
              "  stderr:\n"
              "    no such thing\n"
              "gpu02: exit 0\n"
              "3 hosts: 1 ok, 1 failed, 1 not asked; 1.9 s;\n"
              "    exit 3: some hosts could not be asked\n");
}

TEST(RunReport, SeparatesHostsByExitStatusToo) {
    const std::string text = of({asked_host("gpu01", 0, "x\n"), asked_host("gpu02", 1, "x\n")});
    EXPECT_THAT(text, HasSubstr("gpu01: exit 0\n    x\n"));
    EXPECT_THAT(text, HasSubstr("gpu02: exit 1\n    x\n"));
}

TEST(RunReport, NamesTheSignalThatEndedTheCommand) {
    HostOutcome host = asked_host("gpu01", 0, "");
    host.commands[0].exit_status.reset();
    host.commands[0].exit_signal = "KILL";
    host.commands[0].ok = false;
    EXPECT_THAT(of({host}), HasSubstr("gpu01: ended by KILL\n"));
}

TEST(RunReport, SaysThatACommandDidNotEnd) {
    HostOutcome host = asked_host("gpu01", 0, "half");
    host.commands[0].ran_to_end = false;
    host.commands[0].exit_status.reset();
    EXPECT_THAT(of({host}), HasSubstr("gpu01: did not come to its end\n    half\n"));
}

TEST(RunReport, NeverSaysThatAHostWasNotAskedWhereTheCommandWentOut) {
    HostOutcome host = asked_host("gpu01", 0, "");
    host.verdict = Verdict::unknown;
    host.error = Error{"timeout", "run", "the deadline passed before the command ended", ""};
    EXPECT_THAT(of({host}), HasSubstr("gpu01: no answer: run: the deadline passed"));
    host.error = Error{"audit", "audit", "No space left on device", ""};
    EXPECT_THAT(of({host}), HasSubstr("gpu01: not asked: audit: "));
    host.commands.clear();
    host.error = Error{"not_tried", "", "declined", ""};
    EXPECT_THAT(of({host}), HasSubstr("gpu01: not asked: declined"));
}

TEST(RunReport, ShowsOutputSafelyAndIndented) {
    const std::string text = of({asked_host("gpu01", 0, "gpu02: exit 0\n\x1b[2Ja\tb\r\n\n")});
    EXPECT_THAT(text, HasSubstr("gpu01: exit 0\n"
                                "    gpu02: exit 0\n"
                                "    \\x1B[2Ja        b\n"
                                "    \n"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace cleanslate::controller::testing
