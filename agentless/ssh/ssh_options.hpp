#pragma once
// How hosts are reached over SSH, unless an endpoint says otherwise.

#include <string>
#include <vector>

#include "base/units.hpp"

namespace cleanslate::agentless {

enum class HostKeyPolicy {
    strict,      // only keys that known_hosts has
    accept_new,  // a host of which nothing is known is believed once and written down
    off,         // every key, except one that is revoked
};

struct SshOptions {
    std::string user;  // empty: whoever runs this
    std::vector<std::string>
        identity_files;        // only these are tried; empty: ~/.ssh/id_ed25519, id_ecdsa, the agent's
    std::string agent_socket;  // empty: no agent
    std::vector<std::string>
        known_hosts;  // accept_new writes to the first; empty: ~/.ssh/known_hosts, the system's
    HostKeyPolicy host_keys = HostKeyPolicy::strict;
    Milliseconds connect_timeout{10'000};  // resolve, connect, handshake, auth: each
    std::string home;                      // where ~/.ssh is; empty: $HOME
};

}  // namespace cleanslate::agentless
