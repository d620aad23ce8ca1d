#pragma once
// What would be done, shown before it is: to say yes to, or as a dry run's report.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Hosts of a dry run of which the same is to be said (same_plans): for every step what it would choose now,
// with the processes as a table, what it would run, stop, reset and remove, what is left alone, what is
// withheld and why; then what the survey found.
void write_planned_hosts(Page& page, const std::vector<const agentless::HostOutcome*>& hosts,
                         bool raw_commands);

// In groups: hosts that are clean, and on which the same would be done, stand together.
std::vector<std::vector<const agentless::HostOutcome*>> same_plans(
    const std::vector<const agentless::HostOutcome*>& hosts, std::size_t columns, bool raw_commands);

// The plan of a whole dry run, for the question: hosts with something to do in detail, those that would be
// left as they are with the reason, clean ones folded.
void write_plan(Page& page, const Report& report, bool raw_commands);

// What stands in the plans of all hosts and is not withheld. The files belong to the hosts counted.
struct PlanSize {
    std::size_t hosts = 0;  // with something to do
    std::size_t processes = 0;
    std::size_t stops = 0;
    std::size_t resets = 0;
    std::vector<const agentless::CommandAction*> files = {};
    std::size_t reboots = 0;  // hosts
    std::size_t commands = 0;
    // Of those: done only where the steps before leave it to be done.
    std::size_t perhaps_resets = 0;
    std::size_t perhaps_reboots = 0;
};
PlanSize size_of_plan(const std::vector<agentless::HostOutcome>& hosts);

// "Signal 12 processes, stop 2 supervisors, remove 3 files (12 MiB) and run 1 command on 3 hosts?"
// "Signal 1 process on 1 host, and perhaps reset 1 GPU and reboot 1 host?"
std::string question_for(const PlanSize& size);

}  // namespace cleanslate::controller
