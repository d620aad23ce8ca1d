#pragma once
// Which GPUs a `reset:` step resets, which files a `clean_shm:` step removes, whether a host may be rebooted.
// Pure, and the same for --dry-run.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/targets.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

struct ResetTarget {
    std::string bus_id;  // as in GpuRow
    std::optional<int> index;
    std::string why;  // "sick: gpu-requires-reset", "76107 MiB without a holder"
};

struct Withheld {
    std::string what;  // "GPU 3", "/dev/shm/nccl-x", "the host"
    std::string why;   // printable
};

struct ResetChoice {
    std::vector<ResetTarget> gpus;
    std::vector<Withheld> withheld;
};

// GPUs that are sick in a way that a reset cures, or dirty with memory and nobody who holds it. Withheld: one
// that anybody holds (protected ones but the units named in `step.daemons` too), any where a GPU of an
// NVSwitch machine is held or where the number of NVSwitches is not known, one that fell off the bus, one in
// MIG mode with instances in use, any without root. GPUs that are not judged are not looked at.
ResetChoice choose_resets(const playbooks::ResetStep& step, const Evidence& evidence,
                          const HostVerdict& verdict, const ChoicePolicy& policy);

struct ShmChoice {
    std::vector<ShmFile> files;
    std::vector<Withheld> kept;
};

// What a reset does to a unit in its way, as the report and the audit log have it: "systemctl stop
// dcgm.service".
std::string daemon_command(std::string_view verb, std::string_view unit);

// Files that fit the step and that nobody has open or mapped, whose owner has no living process that is a
// target's or a job's: none in scheduled work, and none at a GPU. Everything is kept where not every process
// could be looked at. Needs a survey of all processes; at most 1000 files at once.
ShmChoice choose_shm(const playbooks::CleanShmStep& step, const Evidence& evidence,
                     const ChoicePolicy& policy);

// Why this host must not be rebooted now, in words: someone's scheduled job or pod lives there, or the login
// is not root; absent: it may. Needs a survey of all processes (Playbook::needs_all_processes sees to it):
// one of holders alone shows no job that has no GPU.
std::optional<std::string> reboot_withheld(const Evidence& evidence, const ChoicePolicy& policy);

}  // namespace cleanslate::agentless
