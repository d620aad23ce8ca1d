#pragma once
// Which processes a signal step means, and which of those it may not have. Pure, and the same for --dry-run and for
// real.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/protection.hpp"
#include "agentless/supervisor.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::agentless {

struct Target {
    ProcessKey key;
    std::string rule;                // why it was chosen: "holding gpu", "cmdline 'sglang'", "launcher of 812"
    std::optional<Supervisor> supervisor;
};

// A process that matched and is left alone.
struct Spared {
    ProcessKey key;
    std::string code;                // "protected", "scheduled-job", "new-since-plan", "not-permitted"
    std::string why;
};

struct Choice {
    std::vector<Target> targets;     // in the order they are to be signalled: launchers topmost first
    std::vector<Spared> spared;
};

// What a person agreed to: these processes, their later children, and respawns in the same unit (cgroup). Absent
// consent (--yes) covers whatever is found.
struct Consent {
    std::set<ProcessKey> listed;
    std::set<std::string> units;     // cgroup paths of listed processes that a supervisor would respawn in
    std::string boot_id;             // a host that has booted since: nothing is consented to
};

struct ChoicePolicy {
    ProtectionRules protection;
    bool include_jobs = false;
    std::optional<std::string> own_job;  // the caller's own Slurm job ($SLURM_JOB_ID)
    const Consent* consent = nullptr;    // null: everything found
};

Choice choose(const playbooks::Match& match, const Evidence& evidence, const ChoicePolicy& policy);

}  // namespace cleanslate::agentless
