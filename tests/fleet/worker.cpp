// simworker: plays the processes of a simulated host. It is copied under the names that the description
// gives, reads its part there ($SIMHOST_PROCESS), and does to the device files what a CUDA process was
// measured to do.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/fleet/freezer.hpp"
#include "tests/fleet/launch.hpp"
#include "tests/fleet/system.hpp"
#include "tests/fleet/wedge.hpp"
#include "tests/fleet/worker_bomb.hpp"
#include "tests/fleet/worker_devices.hpp"

namespace cleanslate::simulated {
namespace {

class Life {
  public:
    Life(const Host& host, const ProcessSpec& self) : host_(host), self_(&self) {}

    // Starts the children; a forked child without a program of its own comes out of here as a child.
    void bear_children() {
        const std::string me = self_->name;
        for (const auto& spec : host_.processes) {
            if (spec.parent != me) continue;
            const pid_t child = launch(spec);
            if (child == 0) {
                self_ = &spec;
                children_.clear();
                if (!spec.rename.empty()) rename_process(spec.rename, spec.rename);
                arm();
                return;
            }
            children_[child] = &spec;
            // Plain programs and forked copies cannot say themselves that they run.
            if (!spec.plays_a_part()) notify_ready(spec.name);
            siginfo_t info;
            if (!spec.ends.empty()) ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
        }
    }

    // From here on signals do what the description says.
    void arm() {
        sigset_t signals;
        ::sigemptyset(&signals);
        if (self_->reaps) ::sigaddset(&signals, SIGCHLD);
        if (self_->ignores_term) ::signal(SIGTERM, SIG_IGN);
        if (self_->term_ms > 0 || self_->forks_on_term || !self_->moves_on_term.empty())
            ::sigaddset(&signals, SIGTERM);
        ::sigprocmask(SIG_BLOCK, &signals, nullptr);
        arrivals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC));
        need(static_cast<bool>(arrivals_), "signalfd");
    }

    [[noreturn]] void live() {
        if (self_->ends == "killed") ::kill(::getpid(), SIGKILL);
        if (self_->ends == "exit") ::_exit(0);
        if (self_->wedged) get_wedged();
        if (self_->frozen) freeze();
        if (!self_->unreadable.empty()) wedge_memory_map(self_->unreadable == "maps");
        reap();
        while (true) wait_for_something();
    }

  private:
    void wait_for_something() {
        pollfd item{arrivals_.get(), POLLIN, 0};
        const auto now = now_ns();
        std::int64_t next = end_at_;
        for (const auto& [when, spec] : restarts_)
            if (next == 0 || when < next) next = when;
        const int timeout =
            next == 0 ? -1 : static_cast<int>(std::max<std::int64_t>(0, (next - now + 999'999) / 1'000'000));
        if (::poll(&item, 1, timeout) > 0) {
            signalfd_siginfo signal{};
            if (::read(arrivals_.get(), &signal, sizeof signal) != sizeof signal) return;
            if (signal.ssi_signo == SIGTERM) on_term();
            if (signal.ssi_signo == SIGCHLD) reap();
        }
        if (end_at_ != 0 && now_ns() >= end_at_) ::_exit(0);
        restart_due();
    }

    void on_term() {
        if (self_->forks_on_term) {
            // The copy has the descriptors, and does the same when its turn comes.
            if (::fork() != 0) ::_exit(0);
            ::setsid();
        } else if (!self_->moves_on_term.empty()) {
            join_cgroup(self_->moves_on_term);
            ::setsid();
        } else if (end_at_ == 0) {
            end_at_ = now_ns() + self_->term_ms * 1'000'000;
        }
    }

    void reap() {
        if (!self_->reaps) return;
        int status = 0;
        for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            const auto child = children_.find(ended);
            if (child == children_.end()) continue;
            const ProcessSpec* spec = child->second;
            children_.erase(child);
            if (spec->restart_ms >= 0) restarts_.emplace(now_ns() + spec->restart_ms * 1'000'000, spec);
        }
    }

    void restart_due() {
        while (!restarts_.empty() && restarts_.begin()->first <= now_ns()) {
            const ProcessSpec* spec = restarts_.begin()->second;
            restarts_.erase(restarts_.begin());
            children_[launch(*spec)] = spec;
        }
    }

    const Host& host_;
    const ProcessSpec* self_;
    std::map<pid_t, const ProcessSpec*> children_;
    std::multimap<std::int64_t, const ProcessSpec*> restarts_;
    std::int64_t end_at_ = 0;
    Fd arrivals_;
};

bool receives(const Host& host, const std::string& name) {
    return std::any_of(host.processes.begin(), host.processes.end(),
                       [&](const auto& spec) { return spec.passes_to == name; });
}

int play(char** argv) {
    const char* name = std::getenv("SIMHOST_PROCESS");
    if (name == nullptr) {
        // Called by a stand-in's name that is a described process's, too.
        ::execv("/usr/local/bin/simcontrol", argv);
        die("simworker plays a process of a simulated host; SIMHOST_PROCESS is not set");
    }
    const Host host = this_host();
    const ProcessSpec* self = host.find(name);
    need(self != nullptr, std::string("no process ") + name + " in the description");
    use_shm(host, self->name);
    if (receives(host, self->name)) receive_devices(self->name);
    if (!self->rename.empty()) rename_process(self->rename, self->rename);
    if (self->refill > 0) live_as_bomb(host, *self);
    // Before the devices: what is closed first at the end is what has the lower number.
    if (self->teardown_ms > 0) prepare_teardown();
    take_devices(host, *self);
    if (!self->moves.empty()) {
        join_cgroup(self->moves);
        ::setsid();
    }
    Life life(host, *self);
    life.arm();
    const pid_t me = ::getpid();
    life.bear_children();
    if (::getpid() == me) notify_ready(self->name);
    life.live();
}

}  // namespace
}  // namespace cleanslate::simulated

int main(int argc, char** argv) {
    cleanslate::simulated::remember_arguments(argc, argv);
    return cleanslate::simulated::play(argv);
}
