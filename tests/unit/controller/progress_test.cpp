#include "controller/progress.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "controller/file_handle.hpp"
#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A progress whose stream is a pipe that is read back.
class Watched : public ::testing::Test {
  protected:
    void SetUp() override {
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        out_ = FileHandle(ends[0]);
        in_ = FileHandle(ends[1]);
    }
    // What was written so far; waits for the first byte if there is none yet.
    std::string read_some(int patience_ms = 10'000) {
        pollfd wait{out_.get(), POLLIN, 0};
        if (::poll(&wait, 1, patience_ms) != 1) return "";
        char piece[4096];
        const ssize_t got = ::read(out_.get(), piece, sizeof piece);
        return got > 0 ? std::string(piece, static_cast<std::size_t>(got)) : "";
    }
    // What is there now: end() has seen to it that this is all.
    std::string read_all() {
        std::string text;
        for (std::string piece = read_some(0); !piece.empty(); piece = read_some(0)) text += piece;
        return text;
    }
    FileHandle out_, in_;
};

TEST_F(Watched, SaysNothingInAPipe) {
    {
        Progress progress({in_.get(), false, 80, 0});
        progress.begin(1, true);
        progress.host_started(clean_host("gpu01"));
        progress.host_detail("gpu01", "detail");
        progress.host_finished(clean_host("gpu01"));
        progress.end();
    }
    EXPECT_EQ(read_all(), "");
}

TEST_F(Watched, SaysALineAHostWhenAsked) {
    Progress progress({in_.get(), false, 80, 1});
    progress.begin(2, true);
    progress.host_started(clean_host("gpu01"));
    progress.host_detail("gpu01", "not shown");
    progress.host_finished(clean_host("gpu01"));
    progress.host_finished(unreachable_host("gpu02"));
    progress.end();
    EXPECT_EQ(read_all(), "gpu01: clean, 1.2 s\ngpu02: unreachable, 0.03 s: connection refused\n");
}

TEST_F(Watched, NamesTheFindingsOfAHostsCourse) {
    HostOutcome busy = dirty_host("gpu01");
    busy.verdict = Verdict::unknown;
    busy.findings = {{Severity::unknown, "host-busy", "held by bob", ""}, {Severity::note, "vetoed", "", ""}};
    Progress progress({in_.get(), false, 80, 1});
    progress.begin(1, true);
    progress.host_finished(busy);
    progress.end();
    EXPECT_EQ(read_all(), "gpu01: unknown, 1.2 s: host-busy, vetoed\n");
}

TEST_F(Watched, SaysDetailsWhenAskedTwiceAndSafely) {
    Progress progress({in_.get(), false, 80, 2});
    progress.begin(1, true);
    progress.host_detail("gpu01", "motd \x1b[31mred\nforged: line");
    progress.end();
    EXPECT_EQ(read_all(), "gpu01: motd \\x1B[31mred\\x0Aforged: line\n");
}

TEST_F(Watched, DrawsOnATerminalAndLeavesNothingBehind) {
    Progress progress({in_.get(), true, 80, 0});
    progress.begin(64, true);
    EXPECT_THAT(read_some(), HasSubstr("0/64 hosts"));
    progress.end();
    EXPECT_TRUE(read_all().ends_with("\r\x1b[K"));
}

TEST_F(Watched, SaysItsLinesAboveTheDrawnOne) {
    Progress progress({in_.get(), true, 80, 0});
    progress.begin(64, true);
    EXPECT_THAT(read_some(), HasSubstr("0/64 hosts"));
    progress.say("interrupted\n\x1b");
    progress.end();
    EXPECT_THAT(read_all(), HasSubstr("\r\x1b[Kinterrupted\\x0A\\x1B\n"));
}

TEST_F(Watched, KeepsTheDrawnLineBelowWhatItPrints) {
    Progress progress({in_.get(), true, 80, 1});
    progress.begin(64, true);
    const std::string drawn = read_some();
    ASSERT_THAT(drawn, HasSubstr("0/64 hosts"));
    progress.host_finished(clean_host("gpu01"));
    EXPECT_THAT(read_some(), HasSubstr("\r\x1b[Kgpu01: clean, 1.2 s\n["));
    progress.end();
}

TEST_F(Watched, SaysWhoIsUnfinishedWhenAskedAndOnlyDuringASweep) {
    Progress progress({in_.get(), false, 80, 0});
    progress.say_unfinished();
    progress.begin(5, true);
    HostOutcome host = clean_host("gpu01");
    host.doing = "survey";
    progress.host_started(host);
    progress.host_started(clean_host("gpu02"));
    progress.host_finished(clean_host("gpu02"));
    progress.say_unfinished();
    progress.end();
    progress.say_unfinished();
    EXPECT_EQ(read_all(), "1 host under way, 3 not begun:\n  survey, 0 s: gpu01 (1)\n");
}

TEST_F(Watched, CanBeginAgain) {
    Progress progress({in_.get(), true, 80, 0});
    for (int sweep = 0; sweep < 3; ++sweep) {
        progress.begin(1, true);
        progress.host_finished(clean_host("gpu01"));
    }
    progress.end();
    EXPECT_THAT(read_all(), Not(HasSubstr("2/1")));
}

Options quiet(bool quiet) {
    Options options;
    options.quiet = quiet;
    return options;
}

TEST(ProgressSettings, NothingIsDrawnInAPipeWithQuietAndOnADumbTerminal) {
    const Terminal all{true, true, true, 80, 80};
    EXPECT_TRUE(progress_settings(all, quiet(false), {}).redraw);
    EXPECT_FALSE(progress_settings(all, quiet(true), {}).redraw);
    EXPECT_FALSE(progress_settings(all, quiet(false), {{"TERM", "dumb"}}).redraw);
    EXPECT_FALSE(progress_settings({true, true, false, 80, 80}, quiet(false), {}).redraw);
}

TEST(ProgressSettings, EnterIsReadOnlyWhereItsAnswerIsSeen) {
    EXPECT_EQ(progress_settings({true, true, true, 80, 80}, quiet(false), {}).keys, 0);
    EXPECT_EQ(progress_settings({true, true, true, 80, 80}, quiet(true), {}).keys, -1);
    EXPECT_EQ(progress_settings({false, true, true, 80, 80}, quiet(false), {}).keys, -1);
    EXPECT_EQ(progress_settings({true, true, false, 80, 80}, quiet(false), {}).keys, -1);
}

TEST(ProgressSettings, TheBarIsColouredAsTheReportIs) {
    const Terminal all{true, true, true, 80, 80};
    EXPECT_TRUE(progress_settings(all, {}, {}).color);
    EXPECT_FALSE(progress_settings(all, {}, {{"NO_COLOR", "1"}}).color);
}

}  // namespace
}  // namespace cleanslate::controller::testing
