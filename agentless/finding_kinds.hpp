#pragma once
// The parts of the table of finding codes. Private to finding_kinds.cpp.

#include <vector>

#include "agentless/findings.hpp"

namespace cleanslate::agentless {

std::vector<FindingKind> driver_findings();
std::vector<FindingKind> tool_findings();
std::vector<FindingKind> host_findings();
std::vector<FindingKind> act_findings();

}  // namespace cleanslate::agentless
