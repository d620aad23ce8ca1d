#pragma once
// What would be done, shown before it is: to say yes to, or as a dry run's report.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// A host of a dry run: its plan as a table (signals, pid, user, age, GPUs, MiB, command line), the commands
// that would be run, what is left alone and why, then what its survey found.
void write_planned_host(Page& page, const agentless::HostOutcome& host, bool raw_commands);

// The plan of a whole dry run, for the question: hosts with something to do in detail, the others folded.
void write_plan(Page& page, const Report& report, bool raw_commands);

// Processes and commands in the plan of all hosts.
struct PlanSize {
    std::size_t hosts = 0;  // with something to do
    std::size_t processes = 0;
    std::size_t commands = 0;
};
PlanSize size_of_plan(const std::vector<agentless::HostOutcome>& hosts);

// "Signal 12 processes and run 1 command on 3 hosts?"
std::string question_for(const PlanSize& size);

}  // namespace cleanslate::controller
