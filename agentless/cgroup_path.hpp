#pragma once
// A cgroup path taken apart.

#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::agentless {

struct CgroupPath {
    std::string_view whole;
    std::vector<std::string_view> parts;  // without empty ones
    // The path down to and with parts[i].
    std::string_view down_to(std::size_t i) const;
};

CgroupPath split_cgroup(std::string_view path);

// That cgroup itself, or one below it. Nothing is below an empty path.
bool is_at_or_below(std::string_view cgroup, std::string_view path);

// systemd puts a '_' in front of a unit's name where the kernel would take it for a file of its own.
std::string_view unit_name(std::string_view part);

// Whether `name` is spelled like a systemd unit of this type (".service", ".scope", ".slice"): letters,
// digits and
// :_.\@- only, at most 255 bytes. A user may name the cgroups below his own manager as he likes.
bool is_unit(std::string_view name, std::string_view type);

}  // namespace cleanslate::agentless
