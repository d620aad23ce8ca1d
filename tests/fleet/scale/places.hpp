#pragma once
// Addresses and ports behind which nobody answers as a server should.

#include <cstdint>
#include <vector>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

// A listening socket at the address (0: all of them); several may share a port. Dies where it cannot.
Fd listen_at(std::uint32_t address, int port, int backlog);

// False where somebody has the port already: a second fleet would share it in silence.
bool is_free_port(int port);

// A port that nobody has, below those that outgoing connections get.
int free_port();

// While it lives, SYNs to the address are dropped: its listener's queue is full and nobody takes from it.
// Beside a listener for all addresses it comes first.
class BlackHole {
  public:
    BlackHole(std::uint32_t address, int port);

  private:
    Fd listener_, filler_;
};

// A port at which nobody listens, and nobody will.
class ClosedPort {
  public:
    ClosedPort();
    int number() const { return number_; }

  private:
    Fd socket_;
    int number_ = 0;
};

}  // namespace cleanslate::simulated
