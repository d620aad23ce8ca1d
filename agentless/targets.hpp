#pragma once
// Which processes a signal step means, and which of those it may not have. Pure, and the same for --dry-run
// and for real.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/lineage.hpp"
#include "agentless/protection.hpp"
#include "agentless/supervisor.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::agentless {

struct Target {
    ProcessKey key;
    std::string rule;  // why it was chosen: "holding gpu", "cmdline 'sglang'", "launcher of 812"
    std::optional<Supervisor> supervisor;
};

// A process that matched and is left alone.
struct Spared {
    ProcessKey key;
    // "protected", "scheduled-job", "other-gpu", "no-scheduler", "new-since-plan", "not-permitted",
    // "not-confirmed"
    std::string code;
    std::string why;  // in words that name the rule; printable
};

struct Choice {
    std::vector<Target> targets;  // in the order they are to be signalled: launchers topmost first
    std::vector<Spared> spared;
};

// What a person agreed to: these processes, their later children, and respawns in the same unit (cgroup) as
// the same user. Absent consent (--yes) covers whatever is found.
struct Consent {
    std::set<ProcessKey> listed;
    // Cgroup paths of the listed ones' units that a supervisor respawns in, and whose processes these were:
    // others' work in the same unit, as in jupyterhub.service, is no respawn.
    std::map<std::string, std::set<std::uint32_t>> units;
    std::string boot_id;  // a host that has booted since: nothing is consented to
    // Files of /dev/shm that were listed, by device and inode.
    std::set<std::pair<std::uint64_t, std::uint64_t>> files = {};
    // GPUs that may be reset, by bus id: those that were listed.
    std::set<std::string> resets = {};
    bool reboot = false;
};

struct ChoicePolicy {
    ProtectionRules protection;
    bool include_jobs = false;
    std::optional<std::string> own_job;  // the caller's own Slurm job ($SLURM_JOB_ID)
    const Consent* consent = nullptr;    // null: everything found
    // The playbook's scheduled_hosts_only, on a host whose inventory does not say `unscheduled: true`:
    // without a scheduler_of(evidence) every target is spared as "no-scheduler".
    bool needs_scheduler = false;
};

// Chooses among the living processes of complete evidence; of incomplete evidence nothing is chosen. Zombies
// are neither targets nor spared: they hold nothing and cannot be killed.
Choice choose(const playbooks::Match& match, const Evidence& evidence, const ChoicePolicy& policy);

// What a yes to the targets of `choice`, made over `evidence`, agrees to.
Consent consent_for(const Choice& choice, const Evidence& evidence);

// Adds that to what a yes to the steps before agrees to. Once called, there is a plan, if with nobody in it.
void extend_consent(std::optional<Consent>& plan, const Choice& choice, const Evidence& evidence);

// Whether `process` of a later survey is one that was agreed to.
bool covers(const Consent& consent, const Process& process, const Evidence& evidence, const Lineage& lineage);

}  // namespace cleanslate::agentless
