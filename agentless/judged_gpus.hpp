#pragma once
// Where a host is judged by some of its GPUs alone (Expectations::only_gpus): which ones, and what of the
// rest still counts. Private to verdict.cpp.

#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/findings.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// Takes GpuVerdict::judged from those that `only` does not name, and says so; one that is not there is
// unknown. A GPU that shows neither index nor uuid could be any of them, and stays. Nothing to do where
// `only` is empty.
void mark_judged(const std::vector<std::string>& only, std::vector<GpuVerdict>& gpus, Findings& findings);

// An opener counts unless every device file that it has open or mapped is of a GPU that is not judged.
bool opener_counts(const Holder& opener, const std::vector<GpuVerdict>& gpus, const Evidence& evidence);

// Lines of the compute-apps list but those of a GPU that is not judged.
std::vector<ComputeApp> apps_that_count(const std::vector<GpuVerdict>& gpus, const Evidence& evidence);

}  // namespace cleanslate::agentless
