#include "controller/progress_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgressState state(std::size_t done, std::size_t total) {
    ProgressState state;
    state.done = done;
    state.total = total;
    state.elapsed = Milliseconds{3400};
    return state;
}

// 612 of 1000 done, with every verdict among them.
ProgressState busy() {
    ProgressState now = state(612, 1000);
    now.not_begun = 300;
    now.counts = {590, 12, 3, 4, 3};
    now.elapsed = Milliseconds{18'000};
    now.rate = 34.2;
    now.left = Milliseconds{11'300};
    return now;
}

ProgressState stalled() {
    ProgressState now = busy();
    now.quiet_for = Milliseconds{3000};
    now.slowest = {{"gpu07", "survey", Milliseconds{12'000}},
                   {"gpu09", "connect", Milliseconds{11'000}},
                   {"gpu11", "step 1: TERM to 2 processes", Milliseconds{10'000}}};
    return now;
}

TEST(ProgressLine, CountsWhatIsDone) {
    ProgressState now = state(12, 64);
    EXPECT_EQ(progress_line(state(0, 64), 20), "0/64 hosts; 3 s");
    EXPECT_EQ(progress_line(state(0, 1), 20), "0/1 host; 3 s");
    now.counts = {10, 1, 0, 0, 1};
    EXPECT_EQ(progress_line(now, 60), "12/64 hosts: 10 clean, 1 dirty, 1 unreachable; 3 s");
}

TEST(ProgressLine, HasABarWhereThereIsRoomForOne) {
    ProgressState now = state(16, 64);
    now.counts = {16, 0, 0, 0, 0};
    EXPECT_EQ(progress_line(now, 79), "[########........................] 16/64 hosts: 16 clean; 3 s");
    EXPECT_EQ(progress_line(now, 37), "[##......] 16/64 hosts: 16 clean; 3 s");
    EXPECT_EQ(progress_line(now, 36), "16/64 hosts: 16 clean; 3 s");
    now.done = now.counts[0] = 64;
    EXPECT_THAT(progress_line(now, 79), HasSubstr("[################################]"));
}

TEST(ProgressLine, TellsTheRateAndTheTimeThatIsLeft) {
    EXPECT_EQ(progress_line(busy(), 120),
              "[###############..........] 612/1000 hosts: 590 clean, 12 dirty, 3 sick, 4 unknown, 3 "
              "unreachable; 34/s, 15 s left; 18 s");
    ProgressState now = busy();
    now.rate = 0.2;
    now.left = Milliseconds{1'940'000};
    EXPECT_THAT(progress_line(now, 200), HasSubstr("; 12/min, 33 min left; "));
    now.rate = 2.04;
    now.left = Milliseconds{6'100};
    EXPECT_THAT(progress_line(now, 200), HasSubstr("; 2.0/s, 7 s left; "));
}

TEST(ProgressLine, TellsNoTimeThatNobodyKnows) {
    ProgressState now = busy();
    now.rate.reset();
    now.left.reset();
    EXPECT_THAT(progress_line(now, 200), Not(HasSubstr("left")));
}

TEST(ProgressLine, TellsNoTimeThatIsLeftOnceEveryHostIsBegun) {
    ProgressState now = busy();
    now.not_begun = 0;
    EXPECT_THAT(progress_line(now, 200), HasSubstr("; 34/s; 18 s"));
}

TEST(ProgressLine, KeepsInANarrowTerminalWhatMattersMost) {
    EXPECT_EQ(progress_line(busy(), 79),
              "612/1000: 590 clean, 12 dirty, 3 sick, 4 unknown, 3 unreachable; 15 s left");
    EXPECT_EQ(progress_line(busy(), 39), "612/1000: 22 not clean; 34/s, 15 s left");
    EXPECT_EQ(progress_line(busy(), 19), "612/1000; 15 s left");
    EXPECT_EQ(progress_line(busy(), 25), "612/1000: 22 not clean");
    EXPECT_EQ(progress_line(busy(), 5), "61...");
}

TEST(ProgressLine, NamesTheSlowestHostsOnlyWhenItStalls) {
    ProgressState now = stalled();
    EXPECT_THAT(progress_line(now, 160),
                HasSubstr("; waiting for gpu07: survey (12 s), gpu09: connect (11 s)"));
    EXPECT_THAT(progress_line(now, 160), Not(HasSubstr("left"))) << "nobody knows when nothing moves";
    now.quiet_for = Milliseconds{2900};
    EXPECT_THAT(progress_line(now, 160), Not(HasSubstr("gpu07")));
}

TEST(ProgressLine, NamesAsManySlowHostsAsFit) {
    EXPECT_THAT(progress_line(stalled(), 79),
                HasSubstr("612/1000 hosts: 22 not clean; 18 s; waiting for gpu07: survey (12 s)"));
    EXPECT_THAT(progress_line(stalled(), 200), HasSubstr("gpu11: step 1: TERM to 2 processes (10 s)"));
    EXPECT_EQ(progress_line(stalled(), 39), "612/1000; waiting for gpu07: survey ...");
}

TEST(ProgressLine, FitsItsColumnsWhateverIsInIt) {
    ProgressState now = stalled();
    now.slowest[0].name = "\xe8\xb6\x85\xe7\xae\x97" + std::string(200, 'x');
    now.slowest[1].name = "\xe6\xa9\x9f\xe5\x99\xa8";
    for (const bool stalls : {false, true}) {
        now.quiet_for = Milliseconds{stalls ? 9'000 : 0};
        for (std::size_t columns = 1; columns <= 250; ++columns)
            EXPECT_LE(most_columns_of(progress_line(now, columns)), columns);
    }
}

TEST(ProgressLine, LetsNoByteSteerTheTerminal) {
    ProgressState now = stalled();
    now.slowest[0].name = "gpu\x1b[2J";
    EXPECT_THAT(progress_line(now, 160), Not(HasSubstr("\x1b")));
}

TEST(ProgressLine, OfAnAdHocCommandCountsWhoCouldNotBeAsked) {
    ProgressState now = state(2, 3);
    now.verdicts = false;
    now.counts = {0, 0, 0, 2, 0};
    now.not_asked = 1;
    EXPECT_EQ(progress_line(now, 38), "[#####...] 2/3 hosts: 1 not asked; 3 s");
}

TEST(ProgressLine, ShowsInColourWhatItCounts) {
    ProgressState now = state(8, 8);
    now.counts = {6, 2, 0, 0, 0};
    const std::string line = progress_line(now, 60, true);
    EXPECT_THAT(line, HasSubstr("\x1b[32m6 clean\x1b[0m, \x1b[33m2 dirty\x1b[0m"));
    EXPECT_THAT(line, HasSubstr("[\x1b[32m" + std::string(18, '#')));
    std::string plain;
    for (std::size_t at = 0; at < line.size();) {
        if (line[at] == '\x1b')
            at = line.find('m', at) + 1;
        else
            plain += line[at++];
    }
    EXPECT_EQ(plain, progress_line(now, 60));
}

TEST(Unfinished, HostsAreFoldedByWhatTheyDoTheLongestFirst) {
    EXPECT_EQ(unfinished_text({{"gpu01", "survey", Milliseconds{2'000}},
                               {"gpu02", "survey", Milliseconds{9'000}},
                               {"gpu03", "connect", Milliseconds{61'000}},
                               {"gpu04", "", Milliseconds{0}}},
                              260, 80),
              "4 hosts under way, 260 not begun:\n"
              "  connect, 1m01s: gpu03 (1)\n"
              "  survey, 2 s to 9 s: gpu[01-02] (2)\n"
              "  starting, 0 s: gpu04 (1)\n");
    EXPECT_EQ(unfinished_text({}, 0, 80), "0 hosts under way\n");
}

TEST(Unfinished, StaysInItsColumnsAndSteersNoTerminal) {
    std::vector<HostUnderWay> hosts;
    for (int i = 0; i < 999; i += 2) hosts.push_back({"gpu" + std::to_string(i), "survey\x1b[2J", {}});
    const std::string text = unfinished_text(hosts, 0, 40);
    for (const auto line : split(text, '\n')) EXPECT_LE(width_of(line), 40u);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_LT(text.size(), 3'000u);
}

}  // namespace
}  // namespace cleanslate::controller::testing
