#pragma once
// Virtual GPUs are told apart by their name only.

#include <string_view>

namespace cleanslate::agentless {

// "GRID A100-8Q", "NVIDIA H100-1-10C", "GRID T4-2B4", "NVIDIA A100-1-5CME": memory in GiB and the letter of
// the series (Q, C, B, A) at the end, before it the number of MIG slices where it has some.
bool is_vgpu_name(std::string_view name);

}  // namespace cleanslate::agentless
