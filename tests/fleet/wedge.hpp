#pragma once
// A file whose readers never come back: they are in state D, and not even SIGKILL ends them, as with a wedged
// driver. It is a FUSE mount whose server, the host's init, takes every read and answers none; with init it
// ends, and so do its readers.

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

}  // namespace cleanslate::simulated
