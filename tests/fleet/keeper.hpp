#pragma once
// The process that keeps a fleet's hosts: their inits are its children and die with it, whatever ends it.

#include <sys/types.h>

#include "tests/fleet/plan.hpp"

namespace cleanslate::simulated {

// Starts the fleet's hosts, writes its files, then says "ready" on `report` and waits for SIGTERM, or for the
// end of the process `companion` (0: none). Then it takes everything down: processes, mounts, cgroups, files.
// Failures while starting take down what there is and are told on standard error.
[[noreturn]] void keep(Fleet fleet, pid_t companion, int report);

// Ends the fleet in `folder` and returns when nothing of it is left; also where its keeper was killed. Dies
// where the folder holds no fleet.
void take_down(const std::string& folder);

}  // namespace cleanslate::simulated
