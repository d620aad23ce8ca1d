#pragma once
// Three witnesses of who uses a GPU: the driver's compute-apps list, the device files that processes have
// open, and memory.used. What each of them says, and where they disagree.

#include "agentless/evidence.hpp"
#include "agentless/findings.hpp"
#include "agentless/limits.hpp"
#include "agentless/placement.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// What makes `gpu` dirty, and notes. Of `gpu` the memory and the holders are used.
void judge_witnesses(const Slot& slot, const GpuVerdict& gpu, const Limit& limit, const Evidence& evidence,
                     const Expectations& expectations, Findings& findings);

}  // namespace cleanslate::agentless
