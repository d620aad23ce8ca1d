#pragma once
// What the command line says of all hosts, in the words of the SSH layer. Private to agentless/.

#include "agentless/fleet.hpp"
#include "agentless/ssh/ssh_options.hpp"

namespace cleanslate::agentless {

SshOptions ssh_options(const Reach& reach);

}  // namespace cleanslate::agentless
