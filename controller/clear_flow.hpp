#pragma once
// How `clear` gets from a plan to a yes to the deed. No terminal and no socket of its own: both are handed
// in.

#include <functional>

#include "controller/report.hpp"
#include "controller/sweep_runner.hpp"
#include "controller/terminal.hpp"

namespace cleanslate::controller {

struct SweepOrder {
    std::vector<agentless::HostTask> tasks;
    agentless::Job job;
    agentless::SweepLimits limits;
};

enum class Course { done, nothing_to_do, declined, stopped };
std::string_view to_string(Course course);  // for the audit log

struct ClearResult {
    agentless::SweepResult result;
    Course course = Course::done;
    Milliseconds took{0};  // of the sweeps, without the wait for an answer
};

using AskForYes = std::function<Answer(const agentless::SweepResult& plan)>;

// A dry run first; then the question, unless nothing would be done anywhere or the sweep was cut short; then,
// after a yes, a second sweep over the hosts that have a plan, each bound to what was listed. What could not
// be planned keeps its first outcome and is not touched. The wait does not count against the deadline.
Result<ClearResult> clear_after_yes(const SweepOrder& order, const Sweeper& sweep, const AskForYes& ask);

}  // namespace cleanslate::controller
