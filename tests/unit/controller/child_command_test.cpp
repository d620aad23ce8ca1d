#include "controller/child_command.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <chrono>
#include <csignal>

#include "base/text.hpp"
#include "controller/signals.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using namespace std::chrono_literals;

class RunChild : public ::testing::Test {
  protected:
    RunChild() {
        ignore_write_signals();
        output_ = FileHandle(::open(folder_.file("out").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        child_.output = output_.get();
        child_.environment = {{"PATH", "/usr/bin:/bin"}, {"FOLDER", folder_.file("")}};
    }
    ChildEnd run(const std::string& command) {
        child_.command = command;
        const auto end = run_child(child_);
        EXPECT_TRUE(end) << end.error().message;
        return end.value_or(ChildEnd{});
    }
    std::string output() const { return contents_of(folder_.file("out")); }
    // Whether the process whose pid the command wrote there still lives. Its end may take a moment.
    bool is_gone(const std::string& file) const {
        const auto pid = parse_number(trim(contents_of(folder_.file(file))));
        if (!pid) return false;
        for (int tries = 0; tries < 500; ++tries) {
            if (::kill(static_cast<pid_t>(*pid), 0) != 0) return true;
            const std::string stat = contents_of("/proc/" + std::to_string(*pid) + "/stat");
            if (stat.find(") Z ") != std::string::npos) return true;
            ::usleep(10'000);
        }
        return false;
    }
    TemporaryFolder folder_;
    FileHandle output_;
    ChildCommand child_;
};

TEST_F(RunChild, GivesTheTextAndTheEnvironmentAndTellsTheStatus) {
    child_.input = "{\"schema\":1}\n";
    child_.environment["CLEANSLATE_X"] = "a b'c";
    const ChildEnd end = run("cat; echo \"$CLEANSLATE_X\" >&2; echo \"home ${HOME-none}\"; exit 3");
    EXPECT_EQ(end.exit_status, 3);
    EXPECT_FALSE(end.succeeded());
    EXPECT_EQ(output(), "{\"schema\":1}\na b'c\nhome none\n");
    EXPECT_TRUE(run("true").succeeded());
}

TEST_F(RunChild, AMegabyteOfInputArrivesWhole) {
    child_.input = std::string(1 << 20, 'x');
    EXPECT_TRUE(run("sleep 0.1; test \"$(wc -c)\" -eq 1048576").succeeded());
}

TEST_F(RunChild, ACommandThatReadsNothingIsNoError) {
    child_.input = std::string(1 << 20, 'x');
    EXPECT_TRUE(run("exec <&-; true").succeeded());
    EXPECT_TRUE(run("true").succeeded());
}

TEST_F(RunChild, HasNoSignalBlockedOrIgnoredAndNoDescriptorOfOurs) {
    StopSignals blocked;
    const FileHandle leaked(::open("/dev/null", O_RDONLY));  // without O_CLOEXEC
    EXPECT_TRUE(
        run("sed -n 's/^Sig\\(Blk\\|Ign\\):.*\\(........\\)$/\\1 \\2/p' /proc/self/status; ls /proc/self/fd")
            .succeeded());
    // Bit 31 is the C library's own. The fourth descriptor is the folder that ls reads.
    EXPECT_THAT(output(), ::testing::MatchesRegex("Blk 00000000\nIgn [08]0000000\n0\n1\n2\n3\n"));
}

TEST_F(RunChild, IsALeaderOfAGroupOfItsOwn) {
    EXPECT_TRUE(run("set -- $(cut -d' ' -f1,5 /proc/self/stat); test \"$2\" = $$").succeeded()) << output();
}

TEST_F(RunChild, WhatItLeavesInTheBackgroundIsNeitherWaitedForNorEnded) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(run("sleep 60 & echo $! >\"$FOLDER/pid\"").succeeded());
    EXPECT_LT(std::chrono::steady_clock::now() - began, 30s);
    const auto pid = parse_number(trim(contents_of(folder_.file("pid"))));
    ASSERT_TRUE(pid);
    EXPECT_EQ(::kill(static_cast<pid_t>(*pid), SIGKILL), 0) << "it lives";
}

TEST_F(RunChild, ATimeoutEndsTheWholeGroup) {
    child_.timeout = 200ms;
    const ChildEnd end = run("sleep 60 & echo $! >\"$FOLDER/pid\"; wait");
    EXPECT_TRUE(end.timed_out);
    EXPECT_FALSE(end.succeeded());
    EXPECT_TRUE(is_gone("pid"));
}

TEST_F(RunChild, ATimeoutEndsAlsoWhoIgnoresTerm) {
    child_.timeout = 300ms;
    child_.grace = 200ms;
    const ChildEnd end =
        run("trap '' TERM; (trap '' TERM; sleep 60) & echo $! >\"$FOLDER/pid\"; while :; do sleep 1; done");
    EXPECT_TRUE(end.timed_out);
    EXPECT_EQ(end.signal, SIGKILL);
    EXPECT_TRUE(is_gone("pid"));
}

TEST_F(RunChild, ACommandThatEndsInTimeAfterTermStillTimedOut) {
    child_.timeout = 200ms;
    const ChildEnd end = run("trap 'exit 0' TERM; while :; do sleep 0.05; done");
    EXPECT_TRUE(end.timed_out);
    EXPECT_FALSE(end.succeeded());
    EXPECT_EQ(end.exit_status, 0);
}

TEST_F(RunChild, AStopEndsIt) {
    const FileHandle stop(::eventfd(1, EFD_CLOEXEC));
    child_.stop_fd = stop.get();
    EXPECT_TRUE(run("sleep 60").stopped);
}

TEST_F(RunChild, AHungReaderOfALongTextEndsWithItsTime) {
    child_.timeout = 200ms;
    child_.input = std::string(1 << 20, 'x');
    EXPECT_TRUE(run("sleep 60").timed_out);
}

TEST(HowItEnded, IsSaidInWords) {
    EXPECT_EQ(how_it_ended({.exit_status = 127}, 60s), "exit status 127");
    EXPECT_EQ(how_it_ended({.exit_status = std::nullopt, .signal = 9}, 60s), "signal 9 (Killed)");
    EXPECT_EQ(how_it_ended({.exit_status = 0, .timed_out = true}, 60s), "not done after 1m00s");
    EXPECT_EQ(how_it_ended({.exit_status = 0, .stopped = true}, 60s), "interrupted");
}

}  // namespace
}  // namespace cleanslate::controller::testing
