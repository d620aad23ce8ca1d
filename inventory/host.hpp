#pragma once
// One host as the inventory describes it, after inheritance. Knows no SSH and no GPU beyond what was written
// down.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cleanslate::inventory {

enum class HostKeyTrust : std::uint8_t { strict, accept_new, off };

// What an inventory seldom says, in Ansible's options of ssh. Absent: ssh's configuration's to say.
struct SshSettings {
    std::vector<std::string> more_identity_files;         // tried after the host's identity_file
    std::optional<std::vector<std::string>> known_hosts;  // the user's; "none": no file
    std::optional<std::vector<std::string>> global_known_hosts;
    std::optional<HostKeyTrust> host_keys;
    std::optional<Milliseconds> connect_timeout;
    bool operator==(const SshSettings&) const = default;
};

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
    std::shared_ptr<const SshSettings> ssh;  // null: nothing is said
};

}  // namespace cleanslate::inventory
