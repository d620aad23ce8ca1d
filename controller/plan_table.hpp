#pragma once
// The processes that a plan means, as a table. Private to the plan's view.

#include <vector>

#include "controller/host_block.hpp"

namespace cleanslate::controller {

// What is known of them, in the order of `keys`: what was listed for a signal, else what the survey says.
std::vector<agentless::Holder> processes_of(const agentless::HostOutcome& host,
                                            const std::vector<agentless::ProcessKey>& keys);

// Pid, user, age, GPUs, MiB and the whole command line of each; what is special about it below.
void write_process_table(Page& page, std::size_t indent, const agentless::HostOutcome& host,
                         const std::vector<agentless::Holder>& processes);

}  // namespace cleanslate::controller
