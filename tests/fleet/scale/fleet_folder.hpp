#pragma once
// What clients of a fleet need, in its folder.

#include "tests/fleet/scale/fleet_state.hpp"

namespace cleanslate::simulated {

// Fills the folder, which is there: inventory.yaml, known_hosts, id, ssh_config, ssh_config_addresses,
// addresses, kinds.txt, port and the host key; `closed_port` is where hosts of the kind `refused` are said to
// be.
void write_folder(FleetState& fleet, int closed_port);
std::string host_key_file(const std::string& folder);

}  // namespace cleanslate::simulated
