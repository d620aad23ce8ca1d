#pragma once
// The verdict on one GPU: sick, unknown, dirty, clean, the first that applies.

#include <vector>

#include "agentless/placement.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

GpuVerdict judge_gpu(const Slot& slot, std::vector<Holder> holders, const Evidence& evidence,
                     const Expectations& expectations);

// The verdict that a finding calls for: clean for a note.
Verdict verdict_of(Severity severity);

}  // namespace cleanslate::agentless
