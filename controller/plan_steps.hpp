#pragma once
// What each step of the playbook would choose on one host, in words. Private to the plan's view.

#include "controller/host_block.hpp"

namespace cleanslate::controller {

// The steps in order; each process is described where it is chosen first. Returns the processes that were.
Listed write_plan_steps(Page& page, const agentless::HostOutcome& host, bool raw_commands);

}  // namespace cleanslate::controller
