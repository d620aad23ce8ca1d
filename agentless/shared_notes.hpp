#pragma once
// A note that every GPU of a host has is said once, for the host.

#include <vector>

#include "agentless/findings.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// Takes notes of one code and text, which all of at least two GPUs that are not sick have, from the GPUs to
// the host.
void share_notes(std::vector<GpuVerdict>& gpus, Findings& host);

}  // namespace cleanslate::agentless
