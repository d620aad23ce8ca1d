#pragma once
// One host as the inventory describes it, after inheritance. Knows no SSH and no GPU beyond what was written
// down.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cleanslate::inventory {

struct Host {
    std::string name;
    std::string address;  // ansible_host / host, else the name
    std::optional<std::uint16_t> port;
    std::optional<std::string> user;
    std::optional<std::string> identity_file;  // `~` expanded
    std::optional<std::string> proxy_jump;     // "[user@]host[:port],...", first hop first; "none"
    std::optional<int> gpus;                   // expected count; 0 is a statement, absent is not
    std::optional<Mebibytes> max_used;
    std::optional<bool> unified_memory;  // true: GPUs that show no used memory are judged by processes alone
    std::optional<bool> become;          // run as root through sudo
    std::optional<bool> unscheduled;     // true: no scheduler gives out this host's GPUs, and that is right
    std::vector<std::string> protect;    // additive over all levels, without repeats
    std::vector<std::string> unprotect;
};

}  // namespace cleanslate::inventory
