#pragma once
#include "base/result.hpp"
#include "tests/fleet/scale/fleet_state.hpp"

namespace cleanslate::simulated {

inline constexpr const char* usage =
    "usage: simfleet FOLDER --hosts N [--gpus 8] [--seed 1] [--threads 1] [--port 2200] [--rtt 0ms]\n"
    "                [--model FILE.host] [--share KIND=PERCENT]... [--release 150ms] [--redirty 10s]\n"
    "kinds: dirty stubborn sick black_hole refused no_banner hang_login deny hang_exec cut_survey no_end "
    "slow\n"
    "       garbage lost_mid_kill\n";

// Errors (kind "usage") name the argument and what would be right.
Result<FleetOptions> read_fleet_options(const std::vector<std::string>& arguments);

}  // namespace cleanslate::simulated
