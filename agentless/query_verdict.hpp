#pragma once
// What the way in which nvidia-smi ended, and its prose, say of a host.

#include "agentless/evidence.hpp"
#include "agentless/findings.hpp"
#include "agentless/placement.hpp"

namespace cleanslate::agentless {

// The GPU query. A status other than 0 is no finding where sick GPUs explain it in full.
void judge_query(const Evidence& evidence, const Placement& placement, Findings& findings);

// Messages that no GPU has.
void judge_messages(const Evidence& evidence, const Placement& placement, Findings& findings);

// The compute-apps query.
void judge_apps(const Evidence& evidence, const Placement& placement, Findings& findings);

}  // namespace cleanslate::agentless
