#include "controller/password.hpp"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "controller/file_handle.hpp"
#include "controller/files.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t longest_secret = 1023;  // what sudo and sshd read

std::unexpected<Error> refused(const SecretQuestion& question, const std::string& what,
                               std::string remedy = {}) {
    return fail("usage", question.about + ": " + what + "; no host was contacted", std::move(remedy));
}

// Signals that would end or stop the process wait in a descriptor, and what came of them is not delivered
// later: who is told "no" needs no death on top.
class HeldSignals {
  public:
    HeldSignals() {
        sigset_t set;
        sigemptyset(&set);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) sigaddset(&set, signal);
        ::pthread_sigmask(SIG_BLOCK, &set, &before_);
        came_ = FileHandle(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    ~HeldSignals() {
        signalfd_siginfo taken{};
        while (::read(came_.get(), &taken, sizeof taken) > 0) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;
    int fd() const { return came_.get(); }

  private:
    sigset_t before_{};
    FileHandle came_;
};

// No echo, but for the line end, until it is gone.
class Unechoed {
  public:
    explicit Unechoed(int terminal) : terminal_(terminal) {
        if (::tcgetattr(terminal, &before_) != 0) return;
        termios quiet = before_;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHOE | ECHOK);
        quiet.c_lflag |= ICANON | ECHONL | ISIG;
        // What was typed before the question does not count.
        done_ = ::tcsetattr(terminal, TCSAFLUSH, &quiet) == 0;
    }
    ~Unechoed() {
        // What was typed and not read is no command for the shell.
        if (done_) ::tcsetattr(terminal_, TCSAFLUSH, &before_);
    }
    Unechoed(const Unechoed&) = delete;
    Unechoed& operator=(const Unechoed&) = delete;
    bool done() const { return done_; }

  private:
    int terminal_;
    termios before_{};
    bool done_ = false;
};

struct WipedBuffer {
    std::array<char, 4096> bytes{};
    ~WipedBuffer() { ::explicit_bzero(bytes.data(), bytes.size()); }
};

// One line; how many bytes it has without its end.
Result<std::size_t> read_line(const SecretQuestion& question, int terminal, int signals, WipedBuffer& line) {
    std::size_t used = 0;
    while (used < line.bytes.size()) {
        pollfd waits[2] = {{terminal, POLLIN, 0}, {signals, POLLIN, 0}};
        if (::poll(waits, 2, -1) < 0 && errno != EINTR) return refused(question, reason(errno));
        if (waits[1].revents != 0)
            return fail("interrupted", question.about + ": interrupted; no host was contacted");
        if (waits[0].revents == 0) continue;
        const ssize_t got = ::read(terminal, line.bytes.data() + used, line.bytes.size() - used);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return refused(question, "the terminal cannot be read: " + reason(errno));
        if (got == 0) return used;  // Ctrl-D
        used += static_cast<std::size_t>(got);
        if (line.bytes[used - 1] == '\n') return used - 1;
    }
    return used;
}

}  // namespace

Result<std::string> ask_secret_on(int terminal, const SecretQuestion& question) {
    const HeldSignals signals;  // the first made and the last to go: no signal finds a changed terminal
    const Unechoed unechoed(terminal);
    if (!unechoed.done()) return refused(question, "the terminal cannot be kept from showing what is typed");
    if (auto asked = write_all(terminal, question.text); !asked)
        return refused(question, asked.error().message);
    WipedBuffer line;
    const auto length = read_line(question, terminal, signals.fd(), line);
    if (!length) return std::unexpected(length.error());
    if (*length == 0 && !question.may_be_empty)
        return refused(question, "no password was typed", question.when_empty);
    if (*length > longest_secret) return refused(question, "no password of more than 1023 bytes is read");
    return Result<std::string>(std::in_place, line.bytes.data(), *length);
}

Result<std::string> ask_secret(const SecretQuestion& question) {
    const FileHandle terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
    if (!terminal.valid())
        return refused(question, "there is no terminal to ask on (" + reason(errno) + ")",
                       question.without_terminal);
    return ask_secret_on(terminal.get(), question);
}

}  // namespace cleanslate::controller
