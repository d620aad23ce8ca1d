#pragma once
// What stands as a key under `hosts`: a name, a range of names, an address, each with a port behind it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::inventory {

struct HostKey {
    std::vector<std::string> names;    // at least one, in the order of the text
    std::optional<std::int64_t> port;  // any number; 0 is none to Ansible and absent here
};

// "gpu01", "gpu01:2222", "::1", "[::1]:22", "db[a:f:2]", "n[01:10:3]x[1:2]" as Ansible reads them, and node
// sets in brackets (n[1-3,7]). Errors have kind "inventory" or "range" and no place: what is no name, ranges
// that run backwards, steps of 0 and more than `max_names` names.
Result<HostKey> read_host_key(std::string_view text, std::size_t max_names);

}  // namespace cleanslate::inventory
