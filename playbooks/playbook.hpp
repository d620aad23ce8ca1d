#pragma once
// YAML -> Playbook: ordered steps that are executed on every host. docs/playbook-format.md is the user's
// side.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cleanslate::playbooks {

// Which processes a step means. All given keys must hold, and a list in a key means any of its entries; an
// empty list is a key that was not given. A match without a key that picks is refused by the reader, and so
// is a pattern that would match everything: compile them with Pattern (playbooks/pattern.hpp).
struct Match {
    // POSIX extended regular expressions, searched in:
    std::vector<std::string> cmdline;     // the arguments joined by blanks (pkill -f)
    std::vector<std::string> name;        // comm (pkill)
    std::vector<std::string> exe;         // the executable's path
    std::vector<std::string> cgroup;      // the cgroup's path
    std::vector<std::string> not_cgroup;  // none of these
    std::vector<int> pid;
    bool holding_gpu = false;  // `holding: gpu`: holders and openers
    // Indexes ("0") or uuids ("GPU-..."): holds one of these GPUs, and no other. Implies holding.
    std::vector<std::string> gpus;
    std::vector<std::string> user, not_user;  // names, or uids in digits
    std::optional<std::uint32_t> uid_at_least;
    std::optional<Milliseconds> older_than;  // whole seconds since it started
    std::optional<Mebibytes> used_at_least;  // what the driver attributes to it, on all GPUs together
    bool orphaned = false;                   // nobody's any more: docs/killing.md says how that looks
    // "none", "any", or a name: the job's id; the pod's uid; the container's id (its beginning, 12 hex digits
    // or more); the unit's name, which may end in *.
    std::vector<std::string> slurm_job, pod, container, unit;
    bool tree = false;         // the targets' launchers too: see docs/playbook-format.md
    bool descendants = false;  // the tree below the targets too, parents first
    // A survey must show every process, and not only those at a GPU and what is above them.
    bool needs_all_processes() const;
    // A key that picks processes was given. `tree` and `descendants` only add to what is picked; not_user,
    // not_cgroup, uid_at_least, older_than, and `none` and `any` of the four above only narrow it down.
    bool picks() const;
};

struct SignalStep {
    int signal = 15;          // TERM, KILL, INT, HUP, QUIT, USR1, USR2
    std::string signal_name;  // without SIG
    Match match;
    // An upper bound: the step ends the moment its targets are gone. 0 s to 1 h; the reader's default for
    // KILL is 30 s.
    Milliseconds wait{10'000};
};

// `stop:`: supervisors of the processes that `match` chooses are stopped by their own command.
struct StopStep {
    bool units = false;       // systemctl stop, of the system's and of users' units
    bool containers = false;  // docker stop, podman stop, ...
    bool slurm_jobs = false;  // scancel; someone else's jobs only with --include-jobs
    bool mps = false;         // `quit` to the control daemon of MPS, where its server holds a GPU
    Match match;
    Milliseconds timeout{60'000};  // of each supervisor; 1 s to 1 h
};

struct RunStep {
    enum class When {
        in_order,  // a step like others: not run on a host that is clean by then
        before,    // before the first step, on a host with something to do; a failure vetoes the host
        after      // at the end, with the verdict, on every host that was surveyed, clean ones too
    };
    std::string command;           // handed to /bin/sh on the host
    Milliseconds timeout{60'000};  // 1 s to 24 h
    int expect_status = 0;         // 0 to 255
    When when = When::in_order;
};

struct VerifyStep {
    std::optional<Mebibytes> max_used;  // absent: the host's own limit
    Milliseconds within{10'000};        // keep looking until clean, at most so long; 0 s to 1 h
    // The host is judged by these GPUs alone, from the first look on: indexes or uuids as in Match::gpus.
    // The same in every verify step that names any.
    std::vector<std::string> gpus;
};

// `reset:`: nvidia-smi --gpu-reset of GPUs that are sick, or whose memory nobody holds. Needs --allow-reset.
struct ResetStep {
    // Units that are stopped for it where they run, in this order, and started again in the opposite one.
    std::vector<std::string> daemons;
    Milliseconds within{10'000};  // memory that nobody holds is given so long to come back first; 0 s to 1 h
    Milliseconds timeout{120'000};  // all of it on one host; 10 s to 1 h
};

// `reboot:`: of a host that is not clean by then. Needs --allow-reboot.
struct RebootStep {
    Milliseconds deadline{900'000};  // until the host answers with another boot id; 1 min to 2 h
};

// `clean_shm:`: files that dead jobs left in /dev/shm. Needs --allow-shm.
struct CleanShmStep {
    std::vector<std::string> names;  // shell patterns of whole file names: letters, digits, . _ - * ?
    std::vector<std::string>
        user;  // owners: names, or uids in digits; empty: any ordinary user (uid >= 1000)
    Milliseconds older_than{3'600'000};  // since the last change; 1 min to 3650 d
};

using Action = std::variant<SignalStep, StopStep, RunStep, VerifyStep, ResetStep, RebootStep, CleanShmStep>;

struct Step {
    std::string name;  // "TERM holders", from the file or made from the action
    Action action;
    int line = 0;  // where the file has it
};

struct Param {
    std::string name;
    std::optional<std::string> fallback;  // absent: must be given with --set
    std::string description;
};

struct Playbook {
    std::string name;
    std::string description;
    std::vector<Param> params;
    std::vector<std::string> protect;
    std::optional<int> max_kills;  // on one host; more targets and nothing is signalled there; 1 to 100,000
    // On a host where no scheduler can be recognised (and whose inventory does not say `unscheduled: true`)
    // nothing is signalled: who runs there by hand looks like an orphan.
    bool scheduled_hosts_only = false;
    std::vector<Step> steps;
    bool needs_all_processes() const;
    // The patterns of all clean_shm steps: which files of /dev/shm a survey has to show.
    std::vector<std::string> shm_names() const;
    // What VerifyStep::gpus says; empty: all of the host's GPUs.
    std::vector<std::string> judged_gpus() const;
};

using Settings = std::map<std::string, std::string>;  // --set NAME=VALUE

// Reads one playbook. `file` stands in messages; errors have kind "playbook", name file:line:column and say
// what would be right. A setting that no param names, and a param without value or default, are errors too.
// What comes back has its params filled in.
Result<Playbook> parse_playbook(std::string_view yaml, std::string_view file, const Settings& settings = {});

struct BuiltIn {
    std::string_view name;
    std::string_view text;    // the file, unchanged
    std::string description;  // its own: a playbook with a param that must be set cannot be read without
};
const std::vector<BuiltIn>& built_in_playbooks();

// NAME of a built-in one, or the path of a file (anything with a / or ending in .yaml or .yml).
Result<Playbook> load_playbook(const std::string& name_or_path, const Settings& settings = {});
Result<std::string> playbook_text(const std::string& name_or_path);

}  // namespace cleanslate::playbooks
