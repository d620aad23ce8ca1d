#include "agentless/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace cleanslate::agentless {
namespace {

constexpr int kill_grace_ms = 50;  // from KILL until a child is left to be reaped later

// Children that did not die of KILL at once (state D). Looked at again whenever another child is started.
class Unreaped {
  public:
    void add(pid_t pid) {
        const std::lock_guard lock(mutex_);
        pids_.push_back(pid);
    }
    void reap() {
        const std::lock_guard lock(mutex_);
        std::erase_if(pids_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
    }

  private:
    std::mutex mutex_;
    std::vector<pid_t> pids_;
};
Unreaped unreaped;

std::unexpected<Error> refused(const char* what) {
    return fail("refused", std::string("cannot start a command here: ") + what + ": " + std::strerror(errno));
}

bool make_pipe(Descriptor& read_end, Descriptor& write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
    return true;
}

void set_nonblocking(const Descriptor& descriptor) {
    fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

// Between fork and exec only calls that are safe in a signal handler are allowed: other threads' locks are
// held for ever in the child.
[[noreturn]] void become(const char* command, int in, int out, int err) {
    setpgid(0, 0);
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    // Our ends are above 2 (start() sees to it), so none of these overwrites another.
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(127);
    syscall(SYS_close_range, 3U, ~0U, 0U);  // what others left open without O_CLOEXEC
    execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    _exit(127);
}

// A pipe end below 3 would be overwritten on its way to 0, 1 and 2: this happens where the caller runs
// without standard streams.
bool lift(Descriptor& descriptor) {
    if (descriptor.get() > 2) return true;
    const int lifted = fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 3);
    if (lifted < 0) return false;
    descriptor = Descriptor(lifted);
    return true;
}

std::string signal_name(int signal) {
    const char* name = sigabbrev_np(signal);
    return name != nullptr ? name : std::to_string(signal);
}

}  // namespace

Descriptor::~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::string& command) {
    unreaped.reap();
    std::unique_ptr<ChildProcess> child(new ChildProcess);
    Descriptor in, out, err;  // the child's ends
    if (!make_pipe(in, child->in) || !make_pipe(child->out, out) || !make_pipe(child->err, err))
        return refused("pipe");
    if (const auto launched = child->launch(command, std::move(in), std::move(out), std::move(err));
        !launched)
        return std::unexpected(launched.error());
    return child;
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start_on(const std::string& command, Descriptor stream) {
    unreaped.reap();
    std::unique_ptr<ChildProcess> child(new ChildProcess);
    Descriptor out(fcntl(stream.get(), F_DUPFD_CLOEXEC, 3)), err;
    if (out.get() < 0) return refused("dup");
    if (!make_pipe(child->err, err)) return refused("pipe");
    const auto launched = child->launch(command, std::move(stream), std::move(out), std::move(err));
    if (!launched) return std::unexpected(launched.error());
    return child;
}

// Takes the child's ends of its streams.
Status ChildProcess::launch(const std::string& command, Descriptor child_in, Descriptor child_out,
                            Descriptor child_err) {
    if (!lift(child_in) || !lift(child_out) || !lift(child_err)) return refused("pipe");
    const pid_t pid = fork();
    if (pid < 0) return refused("fork");
    if (pid == 0) become(command.c_str(), child_in.get(), child_out.get(), child_err.get());
    pid_ = pid;
    // Here too: whoever comes first, the group exists before anybody could want to kill it.
    setpgid(pid, pid);
    ended = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)));
    if (ended.get() < 0) return refused("pidfd_open (Linux 5.3 or newer)");
    for (const Descriptor* stream : {&in, &out, &err})
        if (stream->get() >= 0) set_nonblocking(*stream);
    return {};
}

ChildProcess::~ChildProcess() {
    if (pid_ < 0) return;
    kill_group();
    pollfd died{ended.get(), POLLIN, 0};
    poll(&died, 1, kill_grace_ms);
    if (!try_reap()) unreaped.add(pid_);
}

void ChildProcess::kill_group() const {
    if (pid_ > 0) kill(-pid_, SIGKILL);
}

std::optional<ChildEnd> ChildProcess::try_reap() {
    int status = 0;
    if (pid_ < 0 || waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = -1;
    ChildEnd end;
    if (WIFSIGNALED(status)) end.exit_signal = signal_name(WTERMSIG(status));
    if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
    return end;
}

}  // namespace cleanslate::agentless
