#pragma once
// Whom the sweeps of an inventory have left in doubt: each host by its newest.

#include <string>
#include <vector>

#include "controller/history/sweeps.hpp"

namespace cleanslate::controller::history {

struct NotClean {
    SweepHead sweep;         // the newest one
    std::size_t sweeps = 0;  // how many there are among the hosts' newest ones
    // Every host that was not seen clean as a whole in the newest sweep that was to look at it: also one that
    // was never begun, cut, or judged in part. The newest sweep's first, each sweep's in its order.
    std::vector<std::string> names;
    std::size_t hosts = 0;  // of these sweeps
};

// Of the checks and clears of the inventory since the newest one of all its hosts: so that a look at a few of
// them, or a shard's, forgets nothing of the others. Dry runs count: they have looked. `inventory` as in
// SweepScope. Errors: of kind "history_no_sweep" where there is none.
Result<NotClean> not_clean(Store& store, const std::string& inventory);

}  // namespace cleanslate::controller::history
