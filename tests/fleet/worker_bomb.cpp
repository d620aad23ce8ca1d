#include "tests/fleet/worker_bomb.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "tests/fleet/launch.hpp"
#include "tests/fleet/system.hpp"
#include "tests/fleet/worker_devices.hpp"

namespace cleanslate::simulated {

namespace {

constexpr int most = 40;

// In memory that all copies share. A slot holds the pid that lives there; 0 while another one is on its way.
struct Slots {
    std::atomic<int> heart;
    std::atomic<int> copies[most];
};

struct Bomb {
    const Host& host;
    const ProcessSpec& spec;
    Slots& slots;
};

int wait_for_end_of(pid_t pid) {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd item{process.get(), POLLIN, 0};
    while (process && ::poll(&item, 1, -1) < 0 && errno == EINTR) {
    }
    errno = 0;
    return pid;
}

// Comes back in a new process without a parent, whose pid is in the slot; false in the old one.
bool fork_orphan(std::atomic<int>& slot) {
    slot = 0;
    const pid_t child = ::fork();
    if (child > 0) ::waitpid(child, nullptr, 0);
    if (child != 0) {
        for (int tries = 0; slot == 0 && tries < 400; ++tries) ::poll(nullptr, 0, 1);
        errno = 0;
        return false;
    }
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    slot = ::getpid();
    return true;
}

[[noreturn]] void beat(Bomb bomb);

[[noreturn]] void hold(Bomb bomb) {
    take_devices(bomb.host, bomb.spec);
    while (true) {
        int heart = bomb.slots.heart;
        if (heart > 0) wait_for_end_of(heart);
        // One of the copies is first.
        if (heart > 0 && bomb.slots.heart.compare_exchange_strong(heart, 0) && fork_orphan(bomb.slots.heart))
            beat(bomb);
        if (heart <= 0) ::poll(nullptr, 0, 5);
    }
}

[[noreturn]] void beat(Bomb bomb) {
    for (int fd = 3; fd < 1024; ++fd) ::close(fd);
    errno = 0;
    while (true) {
        std::vector<pollfd> items;
        std::vector<Fd> copies;
        for (long i = 0; i < bomb.spec.refill; ++i) {
            Fd copy(static_cast<int>(::syscall(SYS_pidfd_open, bomb.slots.copies[i].load(), 0)));
            if (!copy && fork_orphan(bomb.slots.copies[i])) hold(bomb);
            if (!copy)
                copy.reset(static_cast<int>(::syscall(SYS_pidfd_open, bomb.slots.copies[i].load(), 0)));
            items.push_back({copy.get(), POLLIN, 0});
            copies.push_back(std::move(copy));
        }
        errno = 0;
        if (::poll(items.data(), items.size(), 1000) <= 0) continue;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (items[i].revents != 0 && fork_orphan(bomb.slots.copies[i])) hold(bomb);
    }
}

}  // namespace

void live_as_bomb(const Host& host, const ProcessSpec& spec) {
    void* place = ::mmap(nullptr, sizeof(Slots), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(place != MAP_FAILED, "mmap");
    Bomb bomb{host, spec, *new (place) Slots{}};
    bomb.slots.heart = ::getpid();
    for (long i = 0; i < spec.refill; ++i)
        if (fork_orphan(bomb.slots.copies[i])) hold(bomb);
    notify_ready(spec.name);
    beat(bomb);
}

}  // namespace cleanslate::simulated
