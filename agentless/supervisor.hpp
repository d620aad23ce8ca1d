#pragma once
// Who would start a process again, or whose scheduled work it is: read from its cgroup path (v1 and v2) and
// its parents.

#include <optional>
#include <string>
#include <string_view>

#include "agentless/evidence.hpp"
#include "agentless/lineage.hpp"

namespace cleanslate::agentless {

enum class SupervisorKind { none, systemd_unit, user_unit, login_session, container, slurm_job, pod };

// All text is made of letters, digits and what unit names and shell commands need: whoever names a cgroup can
// not put words of his own into a command that an operator copies.
struct Supervisor {
    SupervisorKind kind = SupervisorKind::none;
    std::string name;          // "ollama.service", "docker 4f2a...", "slurm job 4242", "pod <uid>"
    std::string stop_command;  // "systemctl stop ollama.service", "scancel 4242"; empty where there is none
    // Respawns what it lost with a delay: settle is longer where a target ran in one.
    bool respawns() const {
        return restarts && (kind == SupervisorKind::systemd_unit || kind == SupervisorKind::user_unit ||
                            kind == SupervisorKind::container || kind == SupervisorKind::pod);
    }
    // Someone's scheduled work, left alone unless it is the caller's own or --include-jobs.
    bool scheduled() const { return kind == SupervisorKind::slurm_job || kind == SupervisorKind::pod; }
    std::string job_id;  // Slurm's, where it is one
    std::string path;  // the cgroup path down to the unit, container, job or pod; empty where none bounds it
    bool restarts = true;  // false for a scope, and for a unit that runs unrelated work too (sshd's, cron's)
    // What a playbook names it by: the unit's name, the container's whole id (or name, of lxc), the pod's
    // uid, the job's id; empty where it is not shown.
    std::string id = {};
    // The uid in user@UID.service, where the path goes through a user's own systemd; below it he names
    // cgroups as he likes.
    std::string user_manager = {};
    bool in_container = false;  // one is in the path, be it a job's or a pod's
};

// `cgroup` is the path part of a /proc/PID/cgroup line. Never fails: what it does not know is `none`.
Supervisor supervisor_of(std::string_view cgroup);

// The same for a process, where its parents count as well: a Slurm that does not track jobs by cgroup still
// has its slurmstepd above each job.
Supervisor supervisor_of(const Process& process, const Lineage& lineage);

}  // namespace cleanslate::agentless
