#pragma once
// All that is decided about reaching one host, or one hop on the way to it, before anything is contacted:
// from flags, the inventory, ssh's configuration and defaults, in this order.

#include <cstdint>
#include <string>
#include <vector>

#include "agentless/ssh/ssh_config.hpp"
#include "agentless/ssh/ssh_options.hpp"
#include "agentless/transport.hpp"

namespace cleanslate::agentless::ssh {

enum class AuthMethod { publickey, keyboard_interactive, password };
enum class AddressFamily { any, inet, inet6 };

struct HostSettings {
    std::string alias;      // the name that was asked for: what `Host` patterns see
    std::string host_name;  // the name or address to connect to
    std::uint16_t port = 22;
    std::string user;
    AddressFamily family = AddressFamily::any;
    std::string bind_address;  // this machine's end; empty: the system chooses

    std::vector<std::string> identity_files;     // in the order to offer them; `~` and tokens expanded
    bool identities_named = false;               // the command line or the inventory named them
    bool identities_default = false;             // nobody named them, ssh's configuration neither
    std::vector<std::string> certificate_files;  // CertificateFile
    bool identities_only = false;                // the agent's other keys are not offered
    std::string agent_socket;                    // empty: no agent
    std::vector<AuthMethod> methods;             // to be tried in this order

    std::vector<std::string> user_known_hosts;  // accept_new writes to the first
    std::vector<std::string> global_known_hosts;
    HostKeyPolicy host_keys = HostKeyPolicy::strict;
    bool hash_known_hosts = false;  // names that are written down are hashed
    std::string host_key_alias;     // the name to look for in known_hosts; empty: host_name and port

    Milliseconds connect_timeout{10'000};
    Milliseconds alive_interval{
        15'000};  // a sign of life is asked for when nothing came for so long; 0: never
    int alive_count_max = 3;

    // At most one of the two is set. Each hop's own settings are asked for again by its name.
    std::vector<std::string> proxy_jump;  // "[user@]host[:port]" of each hop, first hop first
    std::string proxy_command;            // tokens expanded; for /bin/sh
};

// What the endpoint says (into which the command line has put what it says of this host, else the inventory),
// then the options, ssh's configuration, a default. `options.home` and
// `options.local_user` are filled in. Pure. Errors (kind "usage", phase "resolve"): a setting of the
// configuration that cannot be used, with its place.
Result<HostSettings> settings_for(const Endpoint& endpoint, const SshOptions& options,
                                  const SshConfig& config);

// The endpoint that a hop's text stands for: "[user@]host[:port]", "[v6]:port", "ssh://user@host:port".
// Errors have kind "usage".
Result<Endpoint> endpoint_of_hop(const std::string& hop);

}  // namespace cleanslate::agentless::ssh
