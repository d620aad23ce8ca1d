#include "controller/program_answer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>

#include "base/text.hpp"
#include "controller/child_command.hpp"
#include "controller/file_handle.hpp"
#include "controller/files.hpp"
#include "controller/options.hpp"

namespace cleanslate::controller {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_of_stderr = 64 << 10;
constexpr std::size_t shown_of_stderr = 400;           // code points
constexpr std::chrono::milliseconds after_end{1'000};  // for what is still in the pipes

struct Pipe {
    FileHandle read, write;
    bool open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return false;
        read = FileHandle(ends[0]);
        write = FileHandle(ends[1]);
        return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
    }
};

// Spawns `program` in a process group of its own; 0 or an errno.
int launch(const Program& program, int out, int err, pid_t& pid) {
    Environment environment = environment_of_process();
    for (const std::string& name : program.without) environment.erase(name);
    for (const auto& [name, value] : program.variables) environment.insert_or_assign(name, value);
    std::vector<std::string> variables, words = program.words;
    for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
    std::vector<char*> environment_pointers, arguments;
    for (std::string& variable : variables) environment_pointers.push_back(variable.data());
    for (std::string& word : words) arguments.push_back(word.data());
    environment_pointers.push_back(nullptr);
    arguments.push_back(nullptr);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    const int error = ::posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(),
                                     environment_pointers.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return error;
}

// SIGINT and its like as something to wait for: whoever ends this process ends the program, too.
class HeldSignals {
  public:
    HeldSignals() {
        sigset_t held;
        sigemptyset(&held);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP})
            if (!is_ignored(signal)) sigaddset(&held, signal);
        ::pthread_sigmask(SIG_BLOCK, &held, &before_);
        came_ = FileHandle(::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    // What came meanwhile does now what it would have done.
    ~HeldSignals() {
        signalfd_siginfo info{};
        const bool came = came_.valid() && ::read(came_.get(), &info, sizeof info) == sizeof info;
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        if (came) ::raise(static_cast<int>(info.ssi_signo));
    }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    int fd() const { return came_.get(); }

  private:
    // As nohup has it: such a signal ends nobody.
    static bool is_ignored(int signal) {
        struct sigaction now {};
        return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
    }

    sigset_t before_{};
    FileHandle came_;
};

class Running {
  public:
    Running(const Program& program, const HeldSignals& signals, pid_t pid, FileHandle ended, FileHandle out,
            FileHandle err)
        : program_(program),
          signals_(signals),
          pid_(pid),
          ended_(std::move(ended)),
          out_(std::move(out)),
          err_(std::move(err)) {}

    Result<std::string> wait() {
        const bool in_time = read_until(Clock::now() + program_.timeout, true);
        ::kill(-pid_, SIGKILL);  // the whole group, before its first process is waited for
        const bool all_read = read_until(Clock::now() + after_end, false);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        const std::string name = printable(program_.words.front());
        if (too_much_)
            return fail("command",
                        fmt::format("{}: answers with more than {} MiB", name, program_.most_bytes >> 20));
        ChildEnd end;
        end.timed_out = !in_time && !stopped_;
        end.stopped = stopped_;
        if (in_time && WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
        if (in_time && WIFSIGNALED(status)) end.signal = WTERMSIG(status);
        if (end.succeeded() && !all_read && out_.valid())
            return fail("command", fmt::format("{}: has ended, and its output has not", name),
                        "something that it started still holds it");
        if (end.succeeded()) return std::move(answer_);
        return fail("command",
                    fmt::format("{}: {}{}", name, how_it_ended(end, program_.timeout), complaint()));
    }

  private:
    // True once the process has ended and, with `to_its_end`, all that it wrote was read. False: too late or
    // too much.
    bool read_until(Clock::time_point until, bool alive) {
        for (;;) {
            const bool open = out_.valid() || err_.valid();
            if (!alive && !open) return true;
            pollfd waits[4] = {{alive ? ended_.get() : -1, POLLIN, 0},
                               {out_.valid() ? out_.get() : -1, POLLIN, 0},
                               {err_.valid() ? err_.get() : -1, POLLIN, 0},
                               {alive ? signals_.fd() : -1, POLLIN, 0}};
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
            if (left <= 0) return false;
            const auto most = static_cast<long long>(std::numeric_limits<int>::max());
            if (::poll(waits, 4, static_cast<int>(std::min<long long>(left, most))) < 0 && errno != EINTR)
                return false;
            if (waits[1].revents != 0) take(out_, answer_, program_.most_bytes + 1);
            if (waits[2].revents != 0) take(err_, complaint_, most_of_stderr);
            too_much_ = answer_.size() > program_.most_bytes;
            stopped_ = stopped_ || waits[3].revents != 0;
            if (too_much_ || (alive && stopped_)) return false;
            if (waits[0].revents != 0) return true;
        }
    }

    // What finds no room is read all the same: nobody waits for it.
    static void take(FileHandle& from, std::string& into, std::size_t most) {
        char buffer[65'536];
        const ssize_t size = ::read(from.get(), buffer, sizeof buffer);
        if (size > 0) into.append(buffer, std::min(static_cast<std::size_t>(size), most - into.size()));
        if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) from = FileHandle();
    }

    // The last line of its standard error is where most programs say why.
    std::string complaint() const {
        const std::string_view text = trim(complaint_);
        if (text.empty()) return {};
        const auto line = text.rfind('\n');
        return ": " + ellipsize(printable(text.substr(line == text.npos ? 0 : line + 1)), shown_of_stderr);
    }

    const Program& program_;
    const HeldSignals& signals_;
    pid_t pid_;
    FileHandle ended_, out_, err_;
    std::string answer_, complaint_;
    bool too_much_ = false, stopped_ = false;
};

}  // namespace

Result<std::string> answer_of(const Program& program) {
    const std::string name = printable(program.words.front());
    Pipe out, err;
    if (!out.open() || !err.open()) return fail("command", fmt::format("{}: pipe: {}", name, reason(errno)));
    const HeldSignals signals;
    pid_t pid = -1;
    if (const int error = launch(program, out.write.get(), err.write.get(), pid); error != 0)
        return fail(std::string(error == ENOENT ? absent_program : "command"),
                    fmt::format("{}: cannot be started: {}", name, reason(error)),
                    error == ENOENT ? program.if_absent : std::string());
    out.write = FileHandle();
    err.write = FileHandle();
    FileHandle ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
    if (!ended.valid()) {
        const int error = errno;
        ::kill(-pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return fail("command", fmt::format("{}: pidfd_open (Linux 5.3 or newer): {}", name, reason(error)));
    }
    return Running(program, signals, pid, std::move(ended), std::move(out.read), std::move(err.read)).wait();
}

}  // namespace cleanslate::controller
