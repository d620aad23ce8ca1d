#pragma once
// What a login has to show.

#include <memory>
#include <string>
#include <vector>

#include "agentless/ssh/agent_lists.hpp"
#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/private_key.hpp"

namespace cleanslate::agentless::ssh {

struct Identity {
    std::string file;
    std::string blob;                       // public half, or the certificate that is offered in its place
    std::shared_ptr<const SigningKey> key;  // null: only an agent can sign
    bool locked = false;                    // encrypted, and nobody gave the passphrase
};

struct Credentials {
    std::string user;
    std::vector<Identity> identities;  // offered in this order
    bool only_these = false;           // else the agent's other keys follow
    std::string agent_socket;          // empty: no agent
    std::shared_ptr<AgentLists> agent_lists = std::make_shared<AgentLists>();
    std::vector<AuthMethod> methods;  // in this order
};

}  // namespace cleanslate::agentless::ssh
