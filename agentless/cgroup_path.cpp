#include "agentless/cgroup_path.hpp"

#include <algorithm>

namespace cleanslate::agentless {

namespace {

constexpr std::size_t longest_unit_name = 255;
constexpr std::string_view unit_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.\\@-";

}  // namespace

std::string_view CgroupPath::down_to(std::size_t i) const {
    return whole.substr(0, static_cast<std::size_t>(parts[i].data() - whole.data()) + parts[i].size());
}

CgroupPath split_cgroup(std::string_view path) {
    CgroupPath result{path, {}};
    for (std::size_t at = 0; at < path.size();) {
        const auto end = std::min(path.find('/', at), path.size());
        if (end > at) result.parts.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    return result;
}

bool is_at_or_below(std::string_view cgroup, std::string_view path) {
    return !path.empty() && cgroup.starts_with(path) &&
           (cgroup.size() == path.size() || cgroup[path.size()] == '/');
}

std::string_view unit_name(std::string_view part) {
    if (part.starts_with('_')) part.remove_prefix(1);
    return part;
}

bool is_unit(std::string_view name, std::string_view type) {
    return name.size() > type.size() && name.size() <= longest_unit_name && name.ends_with(type) &&
           name.front() != '-' && name.find_first_not_of(unit_characters) == std::string_view::npos;
}

}  // namespace cleanslate::agentless
