#pragma once
// What a process of a simulated host has open and mapped.

#include <string>

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

// Opens, maps and allocates as described, and hands the device files over where that is described.
void take_devices(const Host& host, const ProcessSpec& spec);
// Waits for the process that passes its device files to this one, and keeps them.
void receive_devices(const std::string& name);
// Files below /dev/shm that the description gives to this process.
void use_shm(const Host& host, const std::string& name);

}  // namespace cleanslate::simulated
