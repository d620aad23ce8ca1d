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

// Indexes into `hosts`, ascending. Errors have kind "limit", or "range" for a malformed one.
Result<std::vector<std::size_t>> select_hosts(std::string_view limit, const std::vector<Host>& hosts,
                                              const std::map<std::string, std::vector<std::size_t>>& groups);

}  // namespace cleanslate::inventory
