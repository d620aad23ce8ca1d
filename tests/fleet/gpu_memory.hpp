#pragma once
// GPU memory as a real driver keeps it: it belongs to an open file description of /dev/nvidiaN, so a child
// that inherited the descriptor keeps it after the process that allocated it has died, and the last close
// frees it. Here an allocation is an open-file-description lock on the device file, which lives exactly as
// long: the range begins at pid << 32 (with a flag for memory that the driver lists) and is as long as the
// MiB. The kernel lists all of them in /proc/locks, in every pid namespace. The host's init notes in `ledger`
// what it has seen, so that memory stays charged for a moment after its end.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

struct Allocation {
    int minor = 0;
    pid_t pid = 0;  // who allocated it, as the host numbers it; may be dead
    long mib = 0;
    bool listed = false;     // in the driver's compute-apps list (a context); else the 4 MiB of a cuInit
    std::int64_t until = 0;  // of the ledger: charged until then (now_ns), 0: still held
    bool same(const Allocation& other) const {
        return minor == other.minor && pid == other.pid && listed == other.listed;
    }
};

// Takes the lock on an open device file. One allocation for each open file description.
bool allocate(int device, const Allocation& allocation);

// What is held on this host right now. `locks` is the text of /proc/locks.
std::vector<Allocation> held_allocations(const Host& host, const std::string& locks);

// What the driver charges: held now, or in the ledger and not released yet.
std::vector<Allocation> charged_allocations(const Host& host);

// memory.used of a GPU without what is held: measured as the listed sum + 4 + 5.5 a context, or 4 after a
// cuInit.
long used_mib(const Gpu& gpu, const std::vector<Allocation>& charged);

// The ledger, kept by the host's init. Every close of a device file is an event (inotify); the kernel tells
// before it drops the locks, so the look is repeated a few times.
class Ledger {
  public:
    explicit Ledger(const Host& host);
    int events() const { return events_; }  // an inotify descriptor
    void on_event();                        // it is readable
    void on_time();
    std::int64_t next_look() const { return next_look_; }  // now_ns of the next on_time(), 0: none

  private:
    void look();
    void save() const;
    const Host& host_;
    int events_ = -1;
    std::vector<Allocation> known_;
    std::int64_t next_look_ = 0;
    int looks_left_ = 0;
};

}  // namespace cleanslate::simulated
