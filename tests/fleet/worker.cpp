// simworker: plays the processes of a simulated host. It is copied under the names that the description
// gives, reads its part there ($SIMHOST_PROCESS), and does to the device files what a CUDA process was
// measured to do.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/fleet/gpu_memory.hpp"
#include "tests/fleet/kernel_view.hpp"
#include "tests/fleet/launch.hpp"
#include "tests/fleet/system.hpp"
#include "tests/fleet/wedge.hpp"

namespace cleanslate::simulated {
namespace {

// Opens a device `times` (the descriptors stay, also over exec) and maps it; CUDA's mappings are not for
// children.
int open_device(const std::string& path, int times, int mappings) {
    int first = -1;
    for (int i = 0; i < times; ++i) {
        const int fd = ::open(path.c_str(), O_RDWR);
        need(fd >= 0, "open " + path);
        if (first < 0) first = fd;
    }
    for (int i = 0; i < mappings; ++i) {
        void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, first, i * 4096);
        need(at != MAP_FAILED && ::madvise(at, 4096, MADV_DONTFORK) == 0, "map " + path);
    }
    return first;
}

long memory_on(const ProcessSpec& spec, int index) {
    for (const auto& [gpu, mib] : spec.memory)
        if (gpu == index) return mib;
    return 0;
}

// How often which file is open and mapped: the corpus's holders_two_gpus.txt.
void take_devices(const Host& host, const ProcessSpec& spec) {
    if (spec.devices == Devices::none) return;
    const bool cuda = spec.devices == Devices::cuda;
    const bool context = !spec.memory.empty();
    open_device("/dev/nvidiactl", context ? 2 : 1, context ? 28 : cuda ? 2 : 0);
    open_device("/dev/nvidia-uvm", context ? 4 : 2, context ? 1 : 0);
    if (spec.devices == Devices::control) return;
    if (context || !cuda) {
        open_device("/dev/nvidia-caps/nvidia-cap1", 1, 0);
        open_device("/dev/nvidia-caps/nvidia-cap2", 1, 0);
    }
    for (const auto& [gpu, device] : spec.instances)
        for (const int cap : capabilities_of(host, gpu, device))
            open_device("/dev/nvidia-caps/nvidia-cap" + std::to_string(cap), 1, 0);
    for (const auto& gpu : host.gpus) {
        const std::string path = "/dev/nvidia" + std::to_string(gpu.minor);
        const long mib = memory_on(spec, gpu.index);
        const int opens = !cuda ? 1 : mib > 0 ? 23 : context ? 7 : 4;
        const int device = open_device(path, opens, !cuda ? 0 : mib > 0 ? 3 : 2);
        if (!cuda) continue;
        const Allocation allocation{gpu.minor, ::getpid(), mib > 0 ? mib : 4, mib > 0, 0};
        need(allocate(device, allocation), "allocate on " + path);
        // Init's ledger looks when a device file is closed: let it see the new allocation.
        const Fd seen(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    }
}

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
        if (self_->term_ms > 0) ::sigaddset(&signals, SIGTERM);
        ::sigprocmask(SIG_BLOCK, &signals, nullptr);
        arrivals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC));
        need(static_cast<bool>(arrivals_), "signalfd");
    }

    [[noreturn]] void live() {
        if (self_->ends == "killed") ::kill(::getpid(), SIGKILL);
        if (self_->ends == "exit") ::_exit(0);
        if (self_->wedged) get_wedged();
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
            if (signal.ssi_signo == SIGTERM && end_at_ == 0) end_at_ = now_ns() + self_->term_ms * 1'000'000;
            if (signal.ssi_signo == SIGCHLD) reap();
        }
        if (end_at_ != 0 && now_ns() >= end_at_) ::_exit(0);
        restart_due();
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

int play() {
    const char* name = std::getenv("SIMHOST_PROCESS");
    need(name != nullptr, "simworker plays a process of a simulated host; SIMHOST_PROCESS is not set");
    const Host host = this_host();
    const ProcessSpec* self = host.find(name);
    need(self != nullptr, std::string("no process ") + name + " in the description");
    take_devices(host, *self);
    if (!self->rename.empty()) rename_process(self->rename, self->rename);
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
    return cleanslate::simulated::play();
}
