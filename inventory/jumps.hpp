#pragma once
// The hosts on the way to a host, as an inventory writes them.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::inventory {

// "[user@]host[:port]", several separated by commas, first hop first; or "none". Blanks around a comma are
// taken out. Errors have kind "inventory" and no place.
Result<std::string> read_hops(std::string_view text);

// The hops of -J or -o ProxyJump among the options of ssh that Ansible's ansible_ssh_common_args holds, words
// as a shell has them. Nothing where neither stands there. Errors: as above, or a quote without its end.
Result<std::optional<std::string>> hops_among_ssh_options(std::string_view options);

}  // namespace cleanslate::inventory
