#pragma once
// Whether a `stop:` step quits MPS. Private to stops.cpp.

#include <set>

#include "agentless/stops.hpp"

namespace cleanslate::agentless {

// Adds to `result` what quits MPS where a server of it is at a GPU, or why it is left: what the server's end
// would end too must be among `targets`, and a control daemon whose directory is not the usual one cannot be
// told from here.
void choose_mps(const playbooks::StopStep& step, const Evidence& evidence, const ChoicePolicy& policy,
                const Lineage& lineage, const std::set<ProcessKey>& targets, StopChoice& result);

}  // namespace cleanslate::agentless
