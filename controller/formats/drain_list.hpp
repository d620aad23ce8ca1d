#pragma once
// What Slurm is told of nodes that no job should get: docs/slurm.md.

#include <set>
#include <string>
#include <vector>

#include "controller/report.hpp"

namespace cleanslate::controller {

// Nodes with one reason.
struct DrainLine {
    std::string nodes;   // as Slurm folds them
    std::string reason;  // at most most_reason bytes of letters, digits, blanks and ,.:;_()/-
    // "scontrol update NodeName='gpu[01-02]' State=DRAIN Reason='cleanslate: GPU 3 dirty: ghost'": a line for
    // any shell.
    std::string command() const;
};
inline constexpr std::size_t most_reason = 200;

struct DrainList {
    std::vector<DrainLine> lines;       // in the order of the report
    std::vector<std::string> left_out;  // printable names that are none for Slurm
};

// Of the hosts with one of these verdicts; a line has at most a thousand of them. A host that nothing was
// surveyed of (`run`) has no verdict.
DrainList drain_list(const Report& report, const std::set<agentless::Verdict>& verdicts);

// "cleanslate: GPU 0-3 sick: requires-reset; GPU 4 dirty: held by alice"; of a host that is not clean.
std::string drain_reason(const agentless::HostOutcome& host);

}  // namespace cleanslate::controller
