#pragma once
// Which GPUs came, went, were swapped or moved. Pure. Private to the history.

#include <string>
#include <string_view>
#include <vector>

#include "controller/history/diff.hpp"

namespace cleanslate::controller::history {

struct KnownGpu {
    std::optional<int> index;
    std::string uuid, bus_id, name;
};
// gpu_sets.gpus. Whatever is none of it is left out.
std::vector<KnownGpu> read_gpu_set(std::string_view json);

// The GPUs of a host as they were known in the older sweep and in the newer one; empty where it was not in
// the sweep: its GPUs are then neither gone nor new, but may have moved.
struct HostGpus {
    std::string host;
    std::vector<KnownGpu> before, now;
};

// Fills the four lists. A GPU is its uuid; its place is its bus id, or its index where that is not known. One
// whose place has a GPU now that does not say its uuid is not gone.
void compare_gpus(const std::vector<HostGpus>& hosts, Diff& diff);

}  // namespace cleanslate::controller::history
