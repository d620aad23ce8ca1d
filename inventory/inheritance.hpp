#pragma once
// Draft -> hosts with every variable that they inherit, and who is in which group.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "inventory/draft.hpp"
#include "inventory/host.hpp"

namespace cleanslate::inventory {

struct Resolved {
    std::vector<Host> hosts;
    std::map<std::string, std::vector<std::size_t>> groups;
    // Hosts with a setting that can not be used: an error for whoever selects them. They have no settings.
    std::map<std::size_t, std::shared_ptr<const Error>> unusable;
    // Worth saying once: hosts of which one file says different things in several places.
    std::vector<std::string> notes;
};

// As Ansible does it: what the inventory says of "all", then of the other groups, then group_vars of "all",
// then of the other groups, then what the inventory says of the host, then its host_vars: later wins. Groups
// that are farther from "all" come later; of those that are equally far the one with the higher
// ansible_group_priority, then the later name. Errors have kind "inventory": groups that contain themselves
// or are more than 64 levels deep. `draft` is completed: depths, "ungrouped".
Result<Resolved> resolve(Draft& draft);

// "ungrouped", which has the hosts that no other group names.
void set_ungrouped(Draft& draft);

}  // namespace cleanslate::inventory
