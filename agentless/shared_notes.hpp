#pragma once
// A note that every GPU of a host has is said once, for the host.

#include <vector>

#include "agentless/findings.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// Takes notes of one code and text from the GPUs to the host: those that at least two GPUs have, and all that
// have a row and are not sick.
void share_notes(std::vector<GpuVerdict>& gpus, Findings& host);

}  // namespace cleanslate::agentless
