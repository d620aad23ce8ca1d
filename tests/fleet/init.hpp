#pragma once
// The first process of a simulated host: furnishes it, starts what the description names and sshd, reaps
// orphans, starts again what has a restart delay (as systemd's Restart=always does) and keeps the GPU memory
// ledger.

#include "tests/fleet/description.hpp"
#include "tests/fleet/machine.hpp"

namespace cleanslate::simulated {

// Runs until it is killed, which ends everything on the host. Writes "ready" to `report` once every process
// is set up and sshd listens; dies with a message on standard error where that fails.
[[noreturn]] void run_init(const Host& host, const Luggage& luggage, int report);

}  // namespace cleanslate::simulated
