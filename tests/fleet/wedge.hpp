#pragma once
// A file whose readers never come back: they are in state D, and not even SIGKILL ends them, as with a wedged
// driver. It is a FUSE mount whose server, the host's init, takes every read and answers none; with init it
// ends, and so do its readers. Opened for reading only it bypasses the page cache; opened for reading and
// writing its pages can be mapped.

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

// Inside a simulated host.
inline constexpr const char* wedge_file = "/run/simhost/wedge";

class Wedge {
  public:
    // Dies where the machine has no FUSE.
    Wedge();
    int requests() const { return device_.get(); }
    void serve();  // requests() is readable

  private:
    Fd device_;
};

// Reads the file; returns only where there is no wedge.
void get_wedged();

// Takes this process's own memory map for writing and never comes back (state D): who reads
// /proc/PID/cmdline waits for it, until SIGKILL ends the reader. /proc/PID/maps too; without `maps_too` that
// can be read still where the kernel lets it (6.17 and newer). Returns only where there is no wedge.
void wedge_memory_map(bool maps_too);

}  // namespace cleanslate::simulated
