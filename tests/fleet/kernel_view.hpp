#pragma once
// What the kernel of a simulated host shows of its GPUs: device files, /proc/driver/nvidia, /sys/bus/pci.

#include <array>
#include <string>

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

// The device files, below `dev`.
void make_gpu_files(const Host& host, const std::string& dev);

// The folder that becomes /proc/driver.
void make_driver(const Host& host, const std::string& driver);

// Files below it: nvidia/gpus/BUS/information, where BUS is the kernel's spelling, and nvidia/version.
std::string kernel_bus_id(const Gpu& gpu);
std::string gpu_information(const Host& host, const Gpu& gpu);
std::string driver_version_text(const Host& host);

// The folder that becomes /sys/bus/pci: the GPUs, and what else such a machine has.
void make_pci(const Host& host, const std::string& pci);

// N of the /dev/nvidia-caps/nvidia-capN of a MIG instance: of its GPU instance and of its compute instance,
// numbered as the driver's /proc/driver/nvidia-caps/mig-minors does.
std::array<int, 2> capabilities_of(const Host& host, int gpu, int device);

}  // namespace cleanslate::simulated
