#pragma once
// Which supervisors a `stop:` step stops, and which it must leave. Pure, and the same for --dry-run.

#include <string>
#include <vector>

#include "agentless/targets.hpp"

namespace cleanslate::agentless {

struct StopTarget {
    Supervisor supervisor;              // kind none for MPS
    std::vector<ProcessKey> processes;  // the chosen ones that belong to it
    std::vector<ProcessKey> ends;       // all that would end with it, those among them
    std::string command;                // what stops it, for /bin/sh: of safe characters only
    std::string rule;                   // "supervisor of 812 (holding gpu)"
};

struct SparedSupervisor {
    std::string name;
    std::string why;  // printable: "protected (built-in: nvidia-persistenced) runs in it"
};

struct StopChoice {
    std::vector<StopTarget> stops;  // one for each supervisor
    std::vector<SparedSupervisor> left;
    std::vector<Spared> spared;  // processes that matched and are left alone, as choose() says
};

// Supervisors of the processes that choose() takes for the step's match, of the kinds that the step names.
// Left alone are those without a command, those that run unrelated work too, and those in which anything
// lives that choose() would spare (protected, another's GPU, not in the plan). A consent covers the
// supervisors of what was listed, with all that is in them. MPS is agreed to where its control daemon is in
// the plan (StopTarget::processes has it). Needs a survey of all processes.
StopChoice choose_stops(const playbooks::StopStep& step, const Evidence& evidence,
                        const ChoicePolicy& policy);

}  // namespace cleanslate::agentless
