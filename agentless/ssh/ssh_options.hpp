#pragma once
// How hosts are reached over SSH: what the command line says for all of them, over and above what an endpoint
// says of its host. What is absent here and there is ssh's configuration's to say, then a default.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agentless/ask_secret.hpp"
#include "base/units.hpp"

namespace cleanslate::agentless {

class SharedSecret;

enum class HostKeyPolicy {
    strict,      // only keys that known_hosts has
    accept_new,  // a host of which nothing is known is believed once and written down
    off,         // every key, except one that is revoked
};

struct SshOptions {
    std::string user;                         // empty: the configuration's, else whoever runs this
    std::vector<std::string> identity_files;  // where there are any, only these are tried
    std::string agent_socket;                 // $SSH_AUTH_SOCK; empty: no agent
    std::vector<std::string> known_hosts;     // in place of all others; accept_new writes to the first
    std::optional<HostKeyPolicy> host_keys;
    std::optional<Milliseconds> connect_timeout;  // resolve, connect, handshake, auth: each
    std::string home;                             // where ~/.ssh is; empty: $HOME
    std::string local_user;                       // who runs this; empty: as the password database says
    // ssh's configuration. Absent: ~/.ssh/config and /etc/ssh/ssh_config; "none": no file at all, as in ssh.
    std::optional<std::string> config_file;
    std::shared_ptr<SharedSecret> password;  // --ask-pass; null: none was asked for
    AskSecret ask;                           // for passphrases; null: nobody can be asked
};

}  // namespace cleanslate::agentless
