#pragma once
// A file whose readers never come back: they are in state D, and not even SIGKILL ends them, as with a wedged
// driver. It is a FUSE mount whose server, the host's init, takes every read and answers none; with init it
// ends, and so do its readers. Opened for reading only it bypasses the page cache; opened for reading and
// writing its pages can be mapped.

#include <map>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

// Inside a simulated host.
inline constexpr const char* wedge_file = "/run/simhost/wedge";

class Wedge {
  public:
    // Dies where the machine has no FUSE.
    Wedge();
    // Ends the mount: who waits there goes on with an error.
    ~Wedge();
    Wedge(const Wedge&) = delete;
    int requests() const { return device_.get(); }
    void serve();                      // requests() is readable, or next_answer() has come
    std::int64_t next_answer() const;  // now_ns; 0: none

  private:
    void take_read(std::uint64_t request, std::uint64_t offset, int pid);
    void take_flush(std::uint64_t request, int pid);
    Fd device_;
    bool uninterruptible_ = false;                    // the kernel asks for no interrupts any more
    std::vector<std::uint64_t> first_reads_;          // wait for that
    std::multimap<std::int64_t, std::uint64_t> due_;  // when which close is over
};

// From the end of this process on it is in state D for so long, while its GPU memory shrinks
// (charged_allocations reads the file where the server notes that), and then ends. Returns at once.
void prepare_teardown();

// Who is being torn down: "PID BEGIN END" in now_ns, one a line.
std::string teardown_file();

// Reads the file; returns only where there is no wedge.
void get_wedged();

// Takes this process's own memory map for writing and never comes back (state D): who reads
// /proc/PID/cmdline waits for it, until SIGKILL ends the reader. /proc/PID/maps too; without `maps_too` that
// can be read still where the kernel lets it (6.17 and newer). Returns only where there is no wedge.
void wedge_memory_map(bool maps_too);

}  // namespace cleanslate::simulated
