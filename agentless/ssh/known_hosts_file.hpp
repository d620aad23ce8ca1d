#pragma once
// New keys at the end of a known_hosts file, beside whoever else writes to it.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::agentless::ssh {

struct NewHostKey {
    std::string name;  // as known_hosts_name() or an alias
    std::string blob;
    bool hashed = false;  // its name is written as a hash
};

// What of it was not written, and why: one line each, for a person. Empty where every key stands there now.
using Unwritten = std::vector<std::string>;

// Writes those that are not there yet in one write, under a lock, and makes them durable. A host of which the
// file knows another key by now gets none. The file is made where it is missing (mode 0600), and its folder
// (0700). Waits for the lock a few seconds at most. /dev/null takes everything.
Unwritten append_host_keys(const std::string& file, const std::vector<NewHostKey>& keys);

// Whether a line can begin with it: nothing in it makes two fields, a pattern, a list or a comment.
bool is_known_hosts_name(std::string_view name);

}  // namespace cleanslate::agentless::ssh
