#pragma once
// What surrounds a sweep that nobody watches: its lock and its wait.

#include <optional>

#include "controller/commands.hpp"
#include "controller/progress.hpp"
#include "controller/signals.hpp"
#include "controller/sweep_lock.hpp"

namespace cleanslate::controller {

// --exclusive; absent where it was not asked for. Taken before the wait of --jitter: who comes second is told
// at once, and nobody takes the inventory from a sweep that waits. Errors: "usage" and "locked", nothing was
// contacted; "write".
Result<std::optional<SweepLock>> take_lock(const Context& context);

// --jitter; how long it waits is said, but with -q. False where a signal ended it.
bool wait_out_jitter(const Options& options, Progress& progress, const StopSignals& signals);

}  // namespace cleanslate::controller
