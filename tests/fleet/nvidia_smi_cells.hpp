#pragma once
// What the nvidia-smi stand-in prints in each cell.

#include "tests/fleet/gpu_memory.hpp"
#include "tests/fleet/nvidia_smi_fields.hpp"

namespace cleanslate::simulated {

// `used` in MiB; `units` as without nounits.
std::string gpu_cell(const Host& host, const Gpu& gpu, const Field& field, long used, bool units);
std::string app_cell(const Host& host, const Gpu& gpu, const Allocation& app, const Field& field, bool units);

}  // namespace cleanslate::simulated
