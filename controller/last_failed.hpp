#pragma once
// --last-failed: once more, and only the hosts that were not clean.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "controller/options.hpp"

namespace cleanslate::controller {

struct LastFailed {
    // With `only` and a limit that says the same to people; absent: all were clean, and nothing is left to
    // do.
    std::optional<Options> narrowed;
    std::vector<std::string> notes;  // which sweep, and who is gone from the inventory
};

// Errors leave everything uncontacted: no history, no sweep of this inventory, none of its hosts selected
// now.
Result<LastFailed> narrow_to_last_failed(const Options& options, const Environment& environment);

}  // namespace cleanslate::controller
