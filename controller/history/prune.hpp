#pragma once
// Letting go of old sweeps.

#include <functional>
#include <optional>
#include <vector>

#include "controller/history/sweeps.hpp"

namespace cleanslate::controller::history {

// What stays: a sweep for which one of the two holds.
struct Keep {
    std::optional<std::int64_t> since;  // begun then or later
    std::size_t last = 0;               // so many of the newest of each scope
};

struct Pruning {
    std::vector<SweepHead> going;  // the oldest first
    std::size_t staying = 0;
};
Result<Pruning> plan_prune(Store& store, const Keep& keep);

struct Pruned {
    std::uint64_t bytes_before = 0, bytes_after = 0;  // of the file
};
// Sweep by sweep, each a transaction of its own; then what nothing needs any more; then the room is given
// back, piece by piece. Wherever it is cut, what is left is whole, and the next one goes on.
Result<Pruned> prune(Store& store, const Pruning& pruning);

}  // namespace cleanslate::controller::history
