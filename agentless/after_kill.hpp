#pragma once
// What there is to say once a host was signalled: who came back and under which supervisor, who could not be
// killed.

#include <set>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/outcome.hpp"

namespace cleanslate::agentless {

// "respawned" (with the supervisor's name and the command that stops it) for each unprotected holder of
// `verdict` that was not there before and takes the place of a signalled one; "new-holder" for any other that
// was not there.
std::vector<Finding> findings_of_respawns(const Evidence& before, const Evidence& after,
                                          const HostVerdict& verdict, const std::set<ProcessKey>& signalled);

// "unkillable" (in D state after KILL, no memory released), "slow-teardown" (in D state, memory going down),
// "zombie" (with the parent that does not reap it), "survived-kill" and "not-permitted", for those that are
// still there.
std::vector<Finding> findings_of_survivors(const Evidence& before, const Evidence& after,
                                           const HostOutcome& outcome);

}  // namespace cleanslate::agentless
