#pragma once
// Reads `nvidia-smi -L`: GPUs, and the MIG instances indented below them, which are no GPUs.

#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

struct GpuList {
    std::vector<ListedGpu> gpus;
    std::vector<std::string> problems;  // lines that are neither
};
// Bounded as the other tables are; never fails.
GpuList read_gpu_list(std::string_view out);

}  // namespace cleanslate::agentless
