#pragma once
// `parse` only: the index of a first row that `fuser` fused its pids to. Private to the parser.

#include <optional>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// Gives the first of `rows` its index, where taking a pid that was printed before off the front of the last
// number in `fused` leaves exactly the one index that the other rows lack (of `expected`, else of as many as
// there are rows). Anything else changes nothing. Says whether it repaired.
bool repair_fused_row(std::vector<GpuRow>& rows, std::string_view fused, std::optional<int> expected);

}  // namespace cleanslate::agentless
