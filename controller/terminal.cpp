#include "controller/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <string>

#include "base/text.hpp"
#include "controller/file_handle.hpp"

namespace cleanslate::controller {
namespace {

std::size_t columns_of(int fd) { return std::clamp<std::size_t>(columns_now(fd).value_or(80), 40, 400); }

FileHandle controlling_terminal() { return FileHandle(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)); }

void say(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno != EINTR) return;  // nobody sees the question: nobody answers it either
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::string_view value_of(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string_view{} : std::string_view(found->second);
}

bool is_yes(std::string_view line) {
    std::string word(trim(line));
    std::ranges::transform(word, word.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return word == "y" || word == "yes";
}

}  // namespace

Terminal terminal_of_process() {
    Terminal terminal;
    terminal.in = ::isatty(STDIN_FILENO) == 1;
    terminal.out = ::isatty(STDOUT_FILENO) == 1;
    terminal.err = ::isatty(STDERR_FILENO) == 1;
    if (terminal.out) terminal.out_columns = columns_of(STDOUT_FILENO);
    if (terminal.err) terminal.err_columns = columns_of(STDERR_FILENO);
    return terminal;
}

std::optional<std::size_t> columns_now(int fd) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
    return size.ws_col;
}

bool is_in_foreground(int fd) { return ::tcgetpgrp(fd) == ::getpgrp(); }

bool is_in_background(int fd) {
    const pid_t foreground = ::tcgetpgrp(fd);
    return foreground >= 0 && foreground != ::getpgrp();
}

bool can_redraw(const Environment& environment) { return value_of(environment, "TERM") != "dumb"; }

bool rewraps(const Environment& environment) {
    const std::string_view term = value_of(environment, "TERM");
    if (!value_of(environment, "XTERM_VERSION").empty() || term == "linux") return false;
    return !term.starts_with("screen") || !value_of(environment, "TMUX").empty();
}

bool use_color(ColorMode mode, bool on_terminal, const Environment& environment) {
    if (mode != ColorMode::automatic) return mode == ColorMode::always;
    return on_terminal && value_of(environment, "NO_COLOR").empty() && can_redraw(environment);
}

bool can_ask(const Terminal& terminal, const Options& options) {
    if (!terminal.err) return false;
    if (terminal.in) return true;
    return std::ranges::count(options.inventories, "-") > 0 && controlling_terminal().valid();
}

Answer ask(std::string_view question, int stop_fd) {
    if (::isatty(STDIN_FILENO) == 1) {
        ::tcflush(STDIN_FILENO, TCIFLUSH);
        return ask_on(STDIN_FILENO, STDERR_FILENO, question, stop_fd);
    }
    const FileHandle tty = controlling_terminal();
    if (!tty.valid()) return Answer::no;
    ::tcflush(tty.get(), TCIFLUSH);
    return ask_on(tty.get(), STDERR_FILENO, question, stop_fd);
}

Answer ask_on(int in_fd, int out_fd, std::string_view question, int stop_fd) {
    say(out_fd, question);
    std::string line;
    while (line.size() < 4096) {
        pollfd waits[2] = {{in_fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
        if (::poll(waits, stop_fd >= 0 ? 2 : 1, -1) < 0) {
            if (errno == EINTR) continue;
            return Answer::no;
        }
        if (stop_fd >= 0 && waits[1].revents != 0) return Answer::interrupted;
        char piece[256];
        const ssize_t got = ::read(in_fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return Answer::no;
        line.append(piece, static_cast<std::size_t>(got));
        if (const auto end = line.find('\n'); end != std::string::npos)
            return is_yes(std::string_view(line).substr(0, end)) ? Answer::yes : Answer::no;
    }
    return Answer::no;
}

}  // namespace cleanslate::controller
