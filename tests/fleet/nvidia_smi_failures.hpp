#pragma once
// The ways in which the nvidia-smi stand-in fails as a whole.

#include "tests/fleet/description.hpp"
#include "tests/fleet/nvidia_smi_options.hpp"

namespace cleanslate::simulated {

// Never returns where the host's driver hangs; ends the program where it fails; returns where it answers.
void driver_failures(const Host& host, const Options& options);

// The sentence in front of a failed GPU's row; its own exit status, 0 for a GPU that answers.
int complain(const Gpu& gpu);

// The driver does not get at it at all.
bool gone(const Gpu& gpu);

}  // namespace cleanslate::simulated
