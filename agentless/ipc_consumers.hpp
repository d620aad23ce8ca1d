#pragma once
// Who took over memory of processes that were ended. Private to after_kill.cpp.

#include <set>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// "ipc-consumer" for each process that lives before and after, was not signalled, and whose memory on a GPU
// grew by half or more of what one that was signalled and is gone had there: the driver counts the memory of
// a dead producer as its consumer's.
void add_consumers(const Evidence& before, const Evidence& after, const std::set<ProcessKey>& signalled,
                   std::vector<Finding>& findings);

}  // namespace cleanslate::agentless
