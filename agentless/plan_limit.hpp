#pragma once
// --max-kills-total of a dry run: the plans of all hosts together.

#include <vector>

#include "agentless/outcome.hpp"

namespace cleanslate::agentless {

// More processes in the plans of all hosts than `limit`: then nothing of any plan is left, so that nothing
// can be said yes to, and hosts with processes in theirs have the finding too-many-targets.
void limit_plan(std::vector<HostOutcome>& hosts, int limit);

}  // namespace cleanslate::agentless
