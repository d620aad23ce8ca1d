#pragma once
// What a reboot does to a simulated host: its init and kthreadd stay, everything else is new.

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

// Kills every process but init and kthreadd; true once there is none left.
bool end_everything();

// Another boot id (unless the description wants the same), GPUs as new, and nothing below /dev/shm and
// /run/cleanslate.
void begin_anew(const Host& host);

// One line "away NS" or "back NS" (CLOCK_MONOTONIC) in /run/simhost/boots: when nobody was there.
void note_boot(const char* what);

}  // namespace cleanslate::simulated
