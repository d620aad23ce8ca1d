#pragma once
// The sweeps of a history, for people and for programs.

#include <string>
#include <vector>

#include "controller/history/sweeps.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller::history {

// A line each, under a line for each inventory and limit; `more`: how many older ones are not among them.
void sweeps_text(Page& page, const std::vector<SweepHead>& sweeps, std::size_t more);
std::string sweeps_json(const std::vector<SweepHead>& sweeps);

}  // namespace cleanslate::controller::history
