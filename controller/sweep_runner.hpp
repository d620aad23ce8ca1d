#pragma once
// One sweep with what belongs around it: progress, and the stop signals. And how the commands reach a sweep,
// so that their course can be tested without one.

#include <functional>

#include "agentless/fleet.hpp"
#include "controller/formats/event_stream.hpp"
#include "controller/progress.hpp"
#include "controller/signals.hpp"

namespace cleanslate::controller {

using Sweeper = std::function<Result<agentless::SweepResult>(
    std::vector<agentless::HostTask> tasks, agentless::Job job, agentless::SweepLimits limits)>;

// A Sweeper over the real fleet, which tells `events` (null: nobody) too. All arguments outlive it. While a
// sweep runs, the first stop signal says who is unfinished and begins no new host or step; the second cuts
// everything; later ones change nothing.
Sweeper fleet_sweeper(const agentless::Reach& reach, Progress& progress, agentless::Audit& audit,
                      StopSignals& signals, EventStream* events = nullptr);

// "interrupted: 2 hosts under way: gpu03 (survey), gpu07 (step 1: TERM); no new host is begun; ..."
std::string interrupt_text(const std::vector<std::pair<std::string, std::string>>& unfinished, int signal);

}  // namespace cleanslate::controller
