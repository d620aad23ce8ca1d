#include "controller/child_command.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <limits>
#include <vector>

#include "controller/file_handle.hpp"
#include "controller/files.hpp"

namespace cleanslate::controller {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds after_kill{1'000};  // a process in state D does not end even then

std::unexpected<Error> not_started(const char* what, int error) {
    return fail("command", fmt::format("cannot start a command here: {}: {}", what, reason(error)));
}

struct Pipe {
    FileHandle read, write;
};

// Both above the standard streams, so that giving one to the child overwrites no other.
bool make_pipe(Pipe& pipe) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    pipe.read = FileHandle(ends[0]);
    pipe.write = FileHandle(ends[1]);
    for (FileHandle* end : {&pipe.read, &pipe.write}) {
        if (end->get() > STDERR_FILENO) continue;
        FileHandle lifted(::fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
        if (!lifted.valid()) return false;
        *end = std::move(lifted);
    }
    return ::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK) == 0;
}

// What the shell is started with.
class Start {
  public:
    Start() {
        ::posix_spawnattr_init(&attributes_);
        ::posix_spawn_file_actions_init(&actions_);
    }
    ~Start() {
        ::posix_spawnattr_destroy(&attributes_);
        ::posix_spawn_file_actions_destroy(&actions_);
    }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;

    // 0, or an errno.
    int launch(const ChildCommand& command, int input, pid_t& pid) {
        sigset_t all, none;
        sigfillset(&all);
        sigemptyset(&none);
        ::posix_spawnattr_setflags(&attributes_,
                                   POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        // stdout last: `output` may be 2 itself.
        ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, command.output, STDERR_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
        std::vector<std::string> variables;
        for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
        std::vector<char*> environment;
        for (std::string& variable : variables) environment.push_back(variable.data());
        environment.push_back(nullptr);
        std::string shell = "sh", dash_c = "-c", text = command.command;
        char* arguments[] = {shell.data(), dash_c.data(), text.data(), nullptr};
        return ::posix_spawn(&pid, "/bin/sh", &actions_, &attributes_, arguments, environment.data());
    }

  private:
    posix_spawnattr_t attributes_;
    posix_spawn_file_actions_t actions_;
};

class Running {
  public:
    Running(pid_t pid, FileHandle ended, FileHandle input, const ChildCommand& command)
        : pid_(pid), ended_(std::move(ended)), input_(std::move(input)), command_(command) {
        if (command_.input.empty()) input_ = FileHandle();
    }

    ChildEnd wait() {
        ChildEnd end;
        const auto began = Clock::now();
        const Waited waited = wait_until(began + command_.timeout, command_.stop_fd);
        if (waited != Waited::ended) {
            (waited == Waited::stopped ? end.stopped : end.timed_out) = true;
            ::kill(-pid_, SIGTERM);
            if (wait_until(Clock::now() + command_.grace, -1) != Waited::ended) {
                ::kill(-pid_, SIGKILL);
                wait_until(Clock::now() + after_kill, -1);
            }
            // The group's others, which the shell's end has not ended.
            ::kill(-pid_, SIGKILL);
        }
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) != pid_) return end;
        if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
        if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
        return end;
    }

  private:
    enum class Waited { ended, too_long, stopped };

    Waited wait_until(Clock::time_point until, int stop_fd) {
        for (;;) {
            pollfd waits[3] = {{ended_.get(), POLLIN, 0}, {stop_fd, POLLIN, 0}, {input_.get(), POLLOUT, 0}};
            const int ready = ::poll(waits, 3, milliseconds_until(until));
            if (ready < 0 && errno != EINTR) return Waited::too_long;
            if (ready < 0) continue;
            if (waits[0].revents != 0) return Waited::ended;
            if (waits[1].revents != 0) return Waited::stopped;
            if (waits[2].revents != 0) feed();
            if (Clock::now() >= until) return Waited::too_long;
        }
    }

    static int milliseconds_until(Clock::time_point until) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
        return static_cast<int>(std::clamp<long long>(left, 0, std::numeric_limits<int>::max()));
    }

    // As much of the input as finds room. Nobody reads any more: then the rest is not wanted.
    void feed() {
        const ssize_t written =
            ::write(input_.get(), command_.input.data() + fed_, command_.input.size() - fed_);
        if (written > 0) fed_ += static_cast<std::size_t>(written);
        const bool is_gone = written < 0 && errno != EAGAIN && errno != EINTR;
        if (is_gone || fed_ == command_.input.size()) input_ = FileHandle();
    }

    pid_t pid_;
    FileHandle ended_, input_;
    const ChildCommand& command_;
    std::size_t fed_ = 0;
};

}  // namespace

Result<ChildEnd> run_child(const ChildCommand& command) {
    Pipe input;
    if (!make_pipe(input)) return not_started("pipe", errno);
    pid_t pid = -1;
    if (const int error = Start().launch(command, input.read.get(), pid); error != 0)
        return not_started("/bin/sh", error);
    input.read = FileHandle();
    FileHandle ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
    if (!ended.valid()) {
        const int error = errno;
        ::kill(-pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return not_started("pidfd_open (Linux 5.3 or newer)", error);
    }
    return Running(pid, std::move(ended), std::move(input.write), command).wait();
}

std::string how_it_ended(const ChildEnd& end, Milliseconds timeout) {
    if (end.stopped) return "interrupted";
    if (end.timed_out) return "not done after " + format_duration(timeout);
    if (end.exit_status) return fmt::format("exit status {}", *end.exit_status);
    const char* name = ::strsignal(end.signal);
    return fmt::format("signal {} ({})", end.signal, name != nullptr ? name : "?");
}

}  // namespace cleanslate::controller
