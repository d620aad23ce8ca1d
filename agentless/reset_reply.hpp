#pragma once
// What the answers to a reset mean: nvidia-smi's texts and systemctl's statuses as findings.

#include <optional>
#include <vector>

#include "agentless/remote.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// Absent: it was reset. A text that says otherwise counts more than status 0.
std::optional<Finding> finding_of_reset(const ResetReport::Gpu& gpu, std::optional<int> index);

// Daemons that ran before the reset and of which no start was seen to succeed.
std::vector<Finding> findings_of_daemons(const ResetReport& report);

}  // namespace cleanslate::agentless
