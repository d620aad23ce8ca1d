#pragma once
// The hosts on the way to a host, as an inventory writes them.

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::inventory {

// "[user@]host[:port]", several separated by commas, first hop first; or "none". Blanks around a comma are
// taken out. Errors have kind "inventory" and no place.
Result<std::string> read_hops(std::string_view text);

}  // namespace cleanslate::inventory
