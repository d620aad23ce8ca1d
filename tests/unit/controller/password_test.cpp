#include "controller/password.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "controller/file_handle.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SecretQuestion a_question() {
    SecretQuestion question;
    question.text = "Password: ";
    question.about = "--ask-become-pass";
    question.without_terminal = "run it at a terminal, or let sudo ask for no password (NOPASSWD)";
    return question;
}

// What is told by a child at a terminal of its own: 'y' and the password, or 'n' and the message; then the
// terminal's local flags.
struct Told {
    std::string screen;  // all that was seen
    std::string answer;
    bool echo_after = false;
    int status = -1;
};

// Reads until `text` was seen or the terminal is gone; a bound for the case that it never comes.
bool read_until(int master, std::string& screen, const std::string& text) {
    while (text.empty() || screen.find(text) == std::string::npos) {
        pollfd wait{master, POLLIN, 0};
        if (::poll(&wait, 1, 20'000) <= 0) return false;
        char piece[512];
        const ssize_t got = ::read(master, piece, sizeof piece);
        if (got <= 0) return text.empty();
        screen.append(piece, static_cast<std::size_t>(got));
    }
    return true;
}

// The question at a terminal; `act` types or sends signals once it is seen.
Told asked(const std::function<void(int master, pid_t child)>& act) {
    int answer[2];
    if (::pipe2(answer, O_CLOEXEC) != 0) return {};
    int master = -1;
    const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
    if (child == 0) {
        const auto secret = ask_secret(a_question());
        termios now{};
        ::tcgetattr(STDIN_FILENO, &now);
        const std::string text =
            ((now.c_lflag & ECHO) != 0 ? "E" : "-") + (secret ? "y" + *secret : "n" + secret.error().message);
        [[maybe_unused]] const ssize_t written = ::write(answer[1], text.data(), text.size());
        ::_exit(secret ? 0 : 2);
    }
    const FileHandle terminal(master), in(answer[0]);
    FileHandle(answer[1]).close();
    Told told;
    EXPECT_TRUE(read_until(master, told.screen, "Password: ")) << told.screen;
    act(master, child);
    char text[8192];
    ssize_t got = 0;
    while ((got = ::read(in.get(), text, sizeof text)) > 0)
        told.answer.append(text, static_cast<std::size_t>(got));
    read_until(master, told.screen, "");
    int status = 0;
    ::waitpid(child, &status, 0);
    told.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    told.echo_after = told.answer.starts_with('E');
    if (!told.answer.empty()) told.answer.erase(0, 1);
    return told;
}

Told typed(const std::string& keys) {
    return asked([&](int master, pid_t) {
        EXPECT_EQ(::write(master, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
    });
}

TEST(Password, IsReadWithoutBeingShown) {
    const Told told = typed("geheim 1\n");
    EXPECT_EQ(told.answer, "ygeheim 1");
    EXPECT_THAT(told.screen, Not(HasSubstr("geheim")));
    EXPECT_TRUE(told.echo_after);
}

TEST(Password, KeepsItsBytesAsTheyAre) { EXPECT_EQ(typed(" \xC3\xA4\\ \n").answer, "y \xC3\xA4\\ "); }

TEST(Password, ThatIsEmptyIsRefused) {
    for (const char* keys : {"\n", "\x04"}) {
        const Told told = typed(keys);
        EXPECT_EQ(told.status, 2);
        EXPECT_THAT(told.answer, HasSubstr("no password was typed"));
        EXPECT_TRUE(told.echo_after);
    }
}

TEST(Password, ThatIsLongerThanSudoReadsIsRefused) {
    EXPECT_EQ(typed(std::string(1023, 'x') + "\n").answer, "y" + std::string(1023, 'x'));
    EXPECT_THAT(typed(std::string(1024, 'x') + "\n").answer, HasSubstr("more than 1023 bytes"));
}

TEST(Password, IsGivenUpWithCtrlCAndItsLikesAndTheTerminalIsAsItWas) {
    for (const char* key : {"\x03", "\x1c", "\x1a", "half\x03"}) {
        const Told told = typed(key);
        EXPECT_EQ(told.status, 2) << "the process was ended or stopped";
        EXPECT_THAT(told.answer, HasSubstr("interrupted; no host was contacted"));
        EXPECT_TRUE(told.echo_after);
    }
}

TEST(Password, IsGivenUpOnASignalAndTheTerminalIsAsItWas) {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
        const Told told = asked([&](int, pid_t child) { ::kill(child, signal); });
        EXPECT_EQ(told.status, 2) << "the process was ended";
        EXPECT_THAT(told.answer, HasSubstr("interrupted"));
        EXPECT_TRUE(told.echo_after);
    }
}

TEST(Password, WantsATerminal) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::setsid();  // no controlling terminal
        const auto secret = ask_secret(a_question());
        ::_exit(!secret && secret.error().kind == "usage" &&
                        secret.error().message.find("no terminal to ask on") != std::string::npos
                    ? 0
                    : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(Password, IsRefusedByWhatIsNoTerminal) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const FileHandle in(ends[0]), out(ends[1]);
    const auto secret = ask_secret_on(in.get(), a_question());
    ASSERT_FALSE(secret);
    EXPECT_THAT(secret.error().message, HasSubstr("cannot be kept from showing"));
}

TEST(Wipe, WritesOverTheBytes) {
    std::string secret = "geheim, and longer than what stands inside of a string";
    const char* bytes = secret.data();
    wipe(secret);
    EXPECT_TRUE(secret.empty());
    EXPECT_EQ(std::string(bytes, 6), std::string(6, '\0'));
}

}  // namespace
}  // namespace cleanslate::controller::testing
