#include "controller/enter_key.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <csignal>
#include <string>

namespace cleanslate::controller::testing {
namespace {

struct Pipe {
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        read = FileHandle(ends[0]);
        write = FileHandle(ends[1]);
    }
    void put(std::string_view text) const {
        if (::write(write.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
            ADD_FAILURE() << "the pipe takes nothing";
    }
    // The next byte; 0: none came in time.
    char next(int patience_ms = 20'000) const {
        pollfd wait{read.get(), POLLIN, 0};
        char byte = 0;
        return ::poll(&wait, 1, patience_ms) == 1 && ::read(read.get(), &byte, 1) == 1 ? byte : '\0';
    }
    FileHandle read, write;
};

int complete_bytes(int fd) {
    int bytes = 0;
    return ::ioctl(fd, FIONREAD, &bytes) == 0 ? bytes : -1;
}

// A process whose terminal is ours to type at: it says 'r' once it watches, 'E' for each Enter, and at its
// end how many bytes it has left to who reads next, as a letter from 'a' on.
class AtATerminal : public ::testing::Test {
  protected:
    void SetUp() override {
        child_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
        ASSERT_GE(child_, 0);
        if (child_ == 0) watch();
        EXPECT_EQ(said_.next(), 'r');
    }
    void TearDown() override {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        ::close(terminal_);
    }
    [[noreturn]] void watch() {
        {
            const EnterKey enter(STDIN_FILENO, [this] { said_.put("E"); });
            said_.put("r");
            while (end_.next() == '\0') continue;
        }
        said_.put(std::string(1, static_cast<char>('a' + complete_bytes(STDIN_FILENO))));
        ::_exit(0);
    }
    void type(std::string_view keys) {
        ASSERT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
    }
    char left() {
        end_.put("e");
        return said_.next();
    }

    Pipe said_, end_;
    pid_t child_ = -1;
    int terminal_ = -1;
};

TEST_F(AtATerminal, EachEnterCallsBackAndIsTaken) {
    for (int again = 0; again < 3; ++again) {
        type("\n");
        EXPECT_EQ(said_.next(), 'E');
    }
    EXPECT_EQ(left(), 'a');
}

TEST_F(AtATerminal, WordsAreLeftToWhoReadsNextAndSoIsWhatComesAfterThem) {
    type("ls\n");
    EXPECT_EQ(said_.next(700), '\0');
    type("\n");
    EXPECT_EQ(said_.next(700), '\0');
    EXPECT_EQ(left(), 'e');
}

TEST_F(AtATerminal, HalfALineIsNoEnter) {
    type("l");
    EXPECT_EQ(said_.next(700), '\0');
    type("\n");
    EXPECT_EQ(said_.next(700), '\0');
    EXPECT_EQ(left(), 'c');
}

TEST_F(AtATerminal, KeysOfAPagerAreItsOwn) {
    termios modes{};
    ASSERT_EQ(::tcgetattr(terminal_, &modes), 0);
    ::cfmakeraw(&modes);
    ASSERT_EQ(::tcsetattr(terminal_, TCSANOW, &modes), 0);
    type("\n");
    EXPECT_EQ(said_.next(700), '\0');
    EXPECT_EQ(left(), 'b');
}

TEST(EnterKey, IsNotReadFromAPipe) {
    const Pipe pipe;
    pipe.put("\n");
    bool pressed = false;
    {
        const EnterKey enter(pipe.read.get(), [&] { pressed = true; });
    }
    EXPECT_FALSE(pressed);
    EXPECT_EQ(complete_bytes(pipe.read.get()), 1);
}

}  // namespace
}  // namespace cleanslate::controller::testing
