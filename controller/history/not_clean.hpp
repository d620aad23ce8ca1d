#pragma once
// Whom the newest sweep of an inventory has left in doubt.

#include <string>
#include <vector>

#include "controller/history/sweeps.hpp"

namespace cleanslate::controller::history {

struct NotClean {
    SweepHead sweep;
    // Every host that was not seen clean as a whole, in the sweep's order: also one that was never begun,
    // cut, or judged in part.
    std::vector<std::string> names;
    std::size_t hosts = 0;  // of the sweep
};

// Of the newest check or clear of the inventory, whatever its limit; dry runs count: they have looked.
// `inventory` as in SweepScope. Errors: of kind "history_no_sweep" where there is none.
Result<NotClean> not_clean(Store& store, const std::string& inventory);

}  // namespace cleanslate::controller::history
