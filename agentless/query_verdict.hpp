#pragma once
// What the way in which nvidia-smi ended, and its prose, say of a host.

#include <string>
#include <string_view>

#include "agentless/evidence.hpp"
#include "agentless/findings.hpp"
#include "agentless/placement.hpp"

namespace cleanslate::agentless {

// The GPU query. A status other than 0 is no finding where sick GPUs explain it in full.
void judge_query(const Evidence& evidence, const Placement& placement, Findings& findings);

// An nvidia-smi that hangs in the kernel, whoever started it, where no query of this survey is it.
void judge_stuck(const Evidence& evidence, Findings& findings);

// "X did not end within its time", and which nvidia-smi hang in the kernel.
std::string hung(std::string_view what, const ToolResult& tool, const Evidence& evidence);

// Whether nvidia-smi failed as a whole and printed no row: then that is the finding, and not that rows are
// missing or that the compute-apps query failed likewise.
bool failed_as_a_whole(const Evidence& evidence);

// Messages that no GPU has.
void judge_messages(const Evidence& evidence, const Placement& placement, Findings& findings);

// The compute-apps query.
void judge_apps(const Evidence& evidence, const Placement& placement, Findings& findings);
// What may be the rest of a name there. `otherwise_clean`: nothing else speaks against the host.
void judge_name_rests(const Evidence& evidence, bool otherwise_clean, Findings& findings);

}  // namespace cleanslate::agentless
