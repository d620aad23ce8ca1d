#pragma once
// What the way in which the optional query and `nvidia-smi -L` ended says, and which queries were slow. A
// clean verdict needs none of it: these are notes, but for a driver that hangs.

#include "agentless/evidence.hpp"
#include "agentless/findings.hpp"
#include "agentless/placement.hpp"

namespace cleanslate::agentless {

void judge_optional(const Evidence& evidence, const Placement& placement, Findings& findings);

}  // namespace cleanslate::agentless
