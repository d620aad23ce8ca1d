#pragma once
// Draft -> hosts with every variable that they inherit, and who is in which group.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "inventory/draft.hpp"
#include "inventory/host.hpp"

namespace cleanslate::inventory {

struct Resolved {
    std::vector<Host> hosts;
    std::map<std::string, std::vector<std::size_t>> groups;
};

// Farther groups first, then nearer ones, then the host: nearer wins. Of groups that are equally far from
// "all", the one with the higher ansible_group_priority and then the later name wins. Errors have kind
// "inventory": groups that contain themselves or are more than 64 levels deep, and a host whose variables
// contradict each other. `draft` is completed: depths, "ungrouped".
Result<Resolved> resolve(Draft& draft, std::string_view file);

}  // namespace cleanslate::inventory
