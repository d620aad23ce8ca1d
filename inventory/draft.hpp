#pragma once
// What an inventory file says, read and checked but not inherited yet: groups, hosts, and who belongs to
// whom.

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "base/yaml.hpp"
#include "inventory/variables.hpp"

namespace cleanslate::inventory {

struct Draft {
    Draft() = default;
    Draft(Draft&&) = default;  // names keep their place, which `host_index` needs; a copy's would not
    Draft& operator=(Draft&&) = default;

    struct Edge {
        std::size_t group = 0;
        yaml::Mark mark;  // where the one names the other
    };
    struct Group {
        std::string name;
        yaml::Mark mark;     // where it was named first
        yaml::Mark content;  // where it got hosts, vars or children; line 0: nowhere
        Variables variables;
        std::vector<Edge> parents;  // "all" where nothing else
        std::size_t depth = 0;      // the longest way from "all"
    };
    // Variables that stand behind a host's key; `exact` where the key named this host alone.
    struct Source {
        std::size_t variables = 0;
        bool exact = true;
    };
    struct Host {
        std::string name;
        yaml::Mark mark;
        std::vector<std::size_t> groups;  // direct ones
        std::vector<Source> sources;
    };

    std::vector<Group> groups;  // the first is "all"
    // Deques, since vectors of this size would take twice their memory while they grow.
    std::deque<Host> hosts;  // in the order of the file
    std::deque<Variables> variables;
    std::map<std::string, yaml::Mark> unknown_variables;
    std::unordered_map<std::string, std::size_t> group_index;
    std::unordered_map<std::string_view, std::size_t> host_index;  // by the names in `hosts`
};

// Errors have kind "inventory", "yaml" or "range" and begin with file:line:column.
Result<Draft> read_draft(const yaml::Node& root, std::string_view file);

}  // namespace cleanslate::inventory
