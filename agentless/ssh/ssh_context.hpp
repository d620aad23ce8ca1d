#pragma once
// What all shards share. Read once before the first contact; the few things that change are locked.

#include <memory>

#include "agentless/ssh/host_keys.hpp"
#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/identities.hpp"
#include "agentless/ssh/jump_logins.hpp"
#include "agentless/ssh/login_turns.hpp"
#include "agentless/ssh/resolver.hpp"
#include "agentless/ssh/ssh_transport.hpp"

namespace cleanslate::agentless {

struct SshContext {
    SshOptions options;  // user and home are filled in
    ssh::SshConfig config;
    std::unique_ptr<ssh::Identities> identities;
    std::unique_ptr<ssh::HostKeys> host_keys;
    ssh::Resolver resolver;
    std::shared_ptr<ssh::JumpLogins> jump_logins = std::make_shared<ssh::JumpLogins>();
    ssh::LoginTurns login_turns;
    bool asks_agents = true;  // whether a login may; known once unlock_identities() has seen the hosts
};

}  // namespace cleanslate::agentless
