#pragma once
// Which of a target's parents go with it (`tree: true`), and which of its ancestors stay whatever matches.

#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/lineage.hpp"
#include "agentless/protection.hpp"

namespace cleanslate::agentless {

// The parents of `target` that would start it again or keep its port, nearest first: those of the same user
// and cgroup, up to the first shell, terminal multiplexer, init, desktop session, job or container
// supervisor, or process that may not be signalled.
//
// The leader of the target's session ends the climb as well. It goes too where it is none of the above: a
// server started by setsid, as the main process of a unit or of a container, or as a daemon leads its own
// session and is the very launcher that would respawn its workers. What stands above it has cut itself loose
// from it. A target that leads a session itself does not end the climb: torchrun and others give each worker
// its own session.
std::vector<const Process*> launchers_of(const Process& target, const Evidence& evidence,
                                         const Lineage& lineage, const ProtectionRules& rules);

// The parent of `target` where it may start it again when it ends: a launcher, a supervisor, a shell that
// runs a script. Null where that is init, a person's shell, a way in, what keeps a terminal, or not seen.
const Process* possible_restarter(const Process& target, const Lineage& lineage);

// sshd, dropbear, login and the like, and login shells: above a target they are how people came in, and are
// not signalled even where they match. A shell that runs a command or a script is none.
bool is_way_in(const Process& process);

}  // namespace cleanslate::agentless
