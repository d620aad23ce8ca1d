#include "controller/console.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>

#include <csignal>
#include <stdexcept>

#include "controller/file_handle.hpp"
#include "controller/output.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t more_than_a_pipe_takes = 256 * 1024;

class AConsole : public ::testing::Test {
  protected:
    void SetUp() override {
        std::signal(SIGPIPE, SIG_IGN);
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        out_ = FileHandle(ends[0]);
        in_ = FileHandle(ends[1]);
    }
    // Until `bytes` are there.
    std::string read(std::size_t bytes) {
        std::string text;
        char piece[4096];
        while (text.size() < bytes) {
            const ssize_t got = ::read(out_.get(), piece, std::min(sizeof piece, bytes - text.size()));
            if (got <= 0) break;
            text.append(piece, static_cast<std::size_t>(got));
        }
        return text;
    }
    FileHandle out_, in_;
};

TEST_F(AConsole, WritesWhatItIsGivenInItsOrder) {
    Console console(in_.get());
    console.write("one\n");
    console.write("");
    console.write("two\n");
    console.flush();
    EXPECT_EQ(console.unwritten(), 0u);
    EXPECT_EQ(read(8), "one\ntwo\n");
}

TEST_F(AConsole, WritesTheRestBeforeItEnds) {
    { Console(in_.get()).write("goodbye\n"); }
    EXPECT_EQ(read(8), "goodbye\n");
}

TEST_F(AConsole, WaitsForNobodyWhoDoesNotRead) {
    const std::string block(more_than_a_pipe_takes, 'x');
    const auto began = std::chrono::steady_clock::now();
    {
        Console console(in_.get());
        for (int i = 0; i < 100; ++i) console.write(block);
        EXPECT_LE(console.unwritten(), Console::capacity);
        for (int i = 0; i < 100; ++i)
            console.flush();  // the first waits, the others know that it was in vain
        EXPECT_GT(console.unwritten(), 0u);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

TEST_F(AConsole, SaysHowManyLinesItLeftOut) {
    const std::string block(more_than_a_pipe_takes, 'x');
    Console console(in_.get());
    for (std::size_t taken = 0; taken + block.size() <= Console::capacity; taken += block.size())
        console.write(block);
    console.write(block);
    console.write(block);
    EXPECT_EQ(read(Console::capacity), std::string(Console::capacity, 'x'));
    console.write("later\n");
    const std::string tail = "(2 lines are left out here: nobody read them in time)\nlater\n";
    EXPECT_EQ(read(tail.size()), tail);
}

TEST_F(AConsole, SaysThatItLeftLinesOutAlsoWhereNothingFollows) {
    const std::string block(more_than_a_pipe_takes, 'x');
    Console console(in_.get());
    for (std::size_t taken = 0; taken <= Console::capacity; taken += block.size()) console.write(block);
    const std::string all = read(Console::capacity);
    const std::string tail = "(1 lines are left out here: nobody read them in time)\n";
    EXPECT_EQ(read(tail.size()), tail);
}

TEST_F(AConsole, GoesOnWhereNobodyIsThereAnyMore) {
    Console console(in_.get());
    out_ = FileHandle();
    console.write("lost\n");
    console.flush();
    console.write("lost too\n");
    console.flush();
}

TEST_F(AConsole, WritesWhereTheStreamDoesNotBlock) {
    ASSERT_EQ(::fcntl(in_.get(), F_SETFL, O_NONBLOCK), 0);
    Console console(in_.get());
    const std::string block(more_than_a_pipe_takes, 'x');
    console.write(block);
    EXPECT_EQ(read(block.size()), block);
}

// Both ends of a terminal as a shell finds it: what is written is cooked.
struct Pty {
    Pty() {
        int master = -1;
        int slave = -1;
        if (::openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) throw std::runtime_error("openpty");
        outside = FileHandle(master);
        inside = FileHandle(slave);
    }
    FileHandle outside, inside;
};

// poll() calls such a terminal writable, and a write waits all the same.
TEST(AConsoleAtATerminal, WaitsForNoTerminalThatIsFull) {
    const Pty pty;
    const auto began = std::chrono::steady_clock::now();
    {
        Console console(pty.inside.get());
        for (int i = 0; i < 5'000; ++i) console.write("a line that nobody reads, of which there are many\n");
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(AnOutputAtATerminal, GivesUpOnATerminalThatIsFull) {
    const Pty pty;
    Output out(pty.inside.get());
    out.set_give_up([](Milliseconds waited) { return waited > Milliseconds(300); });
    out.write(std::string(200'000, 'x'));
    const auto written = out.finish();
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, HasSubstr("nobody reads it"));
}

// Of two that see room in a pipe only one finds it.
TEST_F(AConsole, SharesAPipeWithAnOutputAndNeitherWaitsForTheOther) {
    Output out(in_.get());
    out.set_give_up([](Milliseconds waited) { return waited > Milliseconds(300); });
    const std::string block(more_than_a_pipe_takes, 'x');
    Console console(in_.get());
    console.write(block);
    out.write(block);
    EXPECT_FALSE(out.finish());
    console.flush();
    EXPECT_GT(console.unwritten(), 0u);
}

TEST(AConsoleAtATerminal, GoesOnWhereCtrlSStoppedItAndShowsAllWhenItGoesOn) {
    int master = -1;
    int slave = -1;
    ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    const FileHandle outside(master);
    const FileHandle inside(slave);
    ASSERT_EQ(::tcflow(slave, TCOOFF), 0);
    Console console(slave);
    for (int i = 0; i < 1000; ++i) console.write("a line that stands still\n");
    EXPECT_GT(console.unwritten(), 0u);
    ASSERT_EQ(::tcflow(slave, TCOON), 0);
    std::string seen;
    char piece[4096];
    for (pollfd more{master, POLLIN, 0}; seen.size() < 26'000 && ::poll(&more, 1, 10'000) == 1;) {
        const ssize_t got = ::read(master, piece, sizeof piece);
        if (got <= 0) break;
        seen.append(piece, static_cast<std::size_t>(got));
    }
    EXPECT_EQ(seen.size(), 26'000u);  // with a carriage return each
    EXPECT_THAT(seen, StartsWith("a line that stands still\r\n"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
