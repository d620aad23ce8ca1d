#pragma once
// nvidia-smi --gpu-reset.

#include <vector>

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

// Resets the GPUs: their state is as new and their idle memory gone. Returns the exit status; refuses as the
// real one does where the caller is not root, where anybody has a GPU's device file open or mapped, and where
// the description wants it.
int reset_gpus(const Host& host, const std::vector<const Gpu*>& gpus);

}  // namespace cleanslate::simulated
