#include "tests/support/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace cleanslate::testing {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void exec(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env) {
    for (const auto& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
    // Tests that run in the background of a script have these ignored, and a program keeps them so.
    for (const int stop : {SIGINT, SIGTERM, SIGHUP}) signal(stop, SIG_DFL);
    std::vector<char*> args;
    for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
    args.push_back(nullptr);
    execvp(args[0], args.data());
    _exit(127);
}

int status_of(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int milliseconds_until(Clock::time_point when) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(when - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1'000'000));
}

// Waits for the child's end through a pidfd-free poll: short naps only after its streams are closed.
std::optional<int> reap(int pid, Clock::time_point until) {
    for (;;) {
        int status = 0;
        const int got = waitpid(pid, &status, WNOHANG);
        if (got == pid) return status_of(status);
        if (got < 0 || Clock::now() >= until) return std::nullopt;
        usleep(2000);
    }
}

int kill_and_reap(int pid) {
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    return -1;
}

}  // namespace

Ended run(const RunSpec& spec) {
    int in[2], out[2], err[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) std::abort();
    const auto began = Clock::now();
    const auto until = began + spec.deadline;
    const int pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        signal(SIGPIPE, SIG_DFL);
        exec(spec.argv, spec.env);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    signal(SIGPIPE, SIG_IGN);
    Ended ended;
    std::size_t written = 0;
    int open_streams = 2;
    if (spec.input.empty()) close(in[1]), in[1] = -1;
    while (open_streams > 0 && Clock::now() < until) {
        pollfd fds[3] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}, {in[1], POLLOUT, 0}};
        if (poll(fds, 3, milliseconds_until(until)) <= 0) break;
        for (int i = 0; i < 2; ++i) {
            if (!(fds[i].revents & (POLLIN | POLLHUP))) continue;
            char buffer[65536];
            const ssize_t n = read(fds[i].fd, buffer, sizeof buffer);
            int& fd = i == 0 ? out[0] : err[0];
            if (n > 0) (i == 0 ? ended.out : ended.err).append(buffer, static_cast<std::size_t>(n));
            if (n == 0) close(fd), fd = -1, --open_streams;
        }
        if (in[1] >= 0 && fds[2].revents) {
            const ssize_t n = write(in[1], spec.input.data() + written, spec.input.size() - written);
            if (n > 0) written += static_cast<std::size_t>(n);
            if (n < 0 && errno != EAGAIN) written = spec.input.size();
            if (written == spec.input.size()) close(in[1]), in[1] = -1;
        }
    }
    for (int fd : {in[1], out[0], err[0]})
        if (fd >= 0) close(fd);
    const auto status = reap(pid, until);
    ended.status = status ? *status : kill_and_reap(pid);
    ended.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    return ended;
}

Terminal::Terminal(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env) {
    const winsize size{24, 80, 0, 0};
    pid_ = forkpty(&fd_, nullptr, nullptr, &size);
    if (pid_ == 0) exec(argv, env);
}

Terminal::~Terminal() {
    if (pid_ > 0) kill_and_reap(pid_);
    if (fd_ >= 0) close(fd_);
}

bool Terminal::read_some(Clock::time_point until) {
    pollfd p{fd_, POLLIN, 0};
    if (poll(&p, 1, milliseconds_until(until)) <= 0) return false;
    char buffer[4096];
    const ssize_t n = read(fd_, buffer, sizeof buffer);
    if (n <= 0) return false;
    screen_.append(buffer, static_cast<std::size_t>(n));
    return true;
}

bool Terminal::wait_for(const std::string& text, std::chrono::seconds deadline) {
    const auto until = Clock::now() + deadline;
    while (screen_.find(text) == std::string::npos)
        if (!read_some(until)) return screen_.find(text) != std::string::npos;
    return true;
}

void Terminal::type(const std::string& keys) {
    [[maybe_unused]] const auto n = write(fd_, keys.data(), keys.size());
}

void Terminal::resize(unsigned short columns) {
    const winsize size{24, columns, 0, 0};
    ioctl(fd_, TIOCSWINSZ, &size);
}

void Terminal::forget() { screen_.clear(); }

void Terminal::hang_up() {
    close(fd_);
    fd_ = -1;
}

void Terminal::signal(int number) { kill(pid_, number); }

int Terminal::wait_end(std::chrono::seconds deadline) {
    const auto until = Clock::now() + deadline;
    while (fd_ >= 0 && read_some(until)) {
    }
    const auto status = reap(pid_, until);
    const int result = status ? *status : kill_and_reap(pid_);
    pid_ = -1;
    return result;
}

}  // namespace cleanslate::testing
