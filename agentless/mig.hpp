#pragma once
// MIG instances: which GPU one is of, and which of the GPU's holders use it.

#include <string>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/placement.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// The uuid of the GPU that the instance `uuid` (MIG-...) is of; empty where nothing says it.
std::string gpu_of_instance(const std::string& uuid, const Evidence& evidence);

// What `nvidia-smi -L` and the kernel's capability files show of this GPU. A device of the list and a pair of
// the kernel's numbers are one instance only where its uuid says so, or where there is one of each; else both
// are listed, each with what is known of it. `holders` are the GPU's.
std::vector<MigInstance> instances_of(const Slot& slot, const std::vector<Holder>& holders,
                                      const Evidence& evidence);

}  // namespace cleanslate::agentless
