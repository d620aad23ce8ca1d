#pragma once
// What there is to say once a host was signalled: who came back and under which supervisor, who could not be
// killed.

#include <set>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/outcome.hpp"
#include "agentless/stops.hpp"

namespace cleanslate::agentless {

// "respawned" (with the supervisor's name and the command that stops it) for unprotected holders of `verdict`
// that were not there before and take the place of a signalled one; "new-holder" for any others that were not
// there. Once for each origin, and for no more than a few of these: what refills faster than it is ended has
// as many as it likes. `left`: supervisors that must not be stopped as a whole, and why.
std::vector<Finding> findings_of_respawns(const Evidence& before, const Evidence& after,
                                          const HostVerdict& verdict, const std::set<ProcessKey>& signalled,
                                          const std::vector<SparedSupervisor>& left = {});

// "unkillable" (in D state after KILL, no memory released), "slow-teardown" (in D state, memory going down),
// "zombie" (with the parent that does not reap it), "survived-kill" and "not-permitted", for those that are
// still there; "ipc-consumer" for those that were not signalled and took over memory of those that are gone.
std::vector<Finding> findings_of_survivors(const Evidence& before, const Evidence& after,
                                           const HostOutcome& outcome);

// "launcher-left" for parents of those that were signalled which were not signalled themselves and may start
// them again, where no supervisor of these is known. Once for each, and for no more than a few.
std::vector<Finding> findings_of_launchers(const Evidence& before, const std::set<ProcessKey>& signalled);

}  // namespace cleanslate::agentless
