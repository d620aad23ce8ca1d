#pragma once
// The ways in which the nvidia-smi stand-in fails as a whole.

#include "tests/fleet/description.hpp"
#include "tests/fleet/nvidia_smi_options.hpp"

namespace cleanslate::simulated {

// Never returns where the host's driver hangs; ends the program where it fails; returns where it answers.
void driver_failures(const Host& host, const Options& options);

// The line in front of a failed GPU's row, and the exit status that goes with it; empty and 0 for a GPU that
// answers.
struct Complaint {
    int status = 0;
    std::string text;
};
Complaint complaint_of(const Gpu& gpu);
// Prints it; its status.
int complain(const Gpu& gpu);

// The line behind all rows for a GPU whose infoROM is corrupted, else empty; nvidia-smi's status then.
std::string warning_of(const Gpu& gpu);
inline constexpr int inforom_status = 14;

// The driver does not get at it at all.
bool gone(const Gpu& gpu);

}  // namespace cleanslate::simulated
