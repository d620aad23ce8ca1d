#pragma once
// A GPU that came, went, was swapped or moved, for people and for programs. Private to the history.

#include <string>

#include "controller/history/diff.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller::history {

// "GPU swapped: gpu01 GPU 6 at 00000000:06:00.0: GPU-a is now GPU-b (NVIDIA H200)".
std::string gpu_change_text(const GpuChange& change);

// Of an object that may have more.
void write_gpu_change_members(JsonWriter& json, const GpuChange& change);

}  // namespace cleanslate::controller::history
