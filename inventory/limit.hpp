#pragma once
// LIMIT -> which of an inventory's hosts it selects. Inventory::select is the way in.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "inventory/host.hpp"

namespace cleanslate::inventory {

// Whether `pattern` (`*`: any bytes, `?`: one byte) matches the whole of `text`. Takes at most the product of
// the two lengths in steps.
bool glob(std::string_view pattern, std::string_view text);

// Indexes into `hosts`, ascending. Errors have kind "limit", or "range" for a malformed one.
Result<std::vector<std::size_t>> select_hosts(std::string_view limit, const std::vector<Host>& hosts,
                                              const std::map<std::string, std::vector<std::size_t>>& groups);

}  // namespace cleanslate::inventory
