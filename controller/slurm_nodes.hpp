#pragma once
// Slurm as a source of hosts: the nodes of a job or of partitions.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "controller/options.hpp"
#include "inventory/host.hpp"

namespace cleanslate::controller {

struct SlurmNodes {
    std::vector<std::string> names;  // at least one, each once
    std::string source;              // "slurm job 4242", "slurm partition gpu,debug (idle)"
};

// What --slurm-job or --slurm-partition asks for, from squeue or sinfo, which get `patience`; of the job that
// this runs in from its environment where there is no squeue. Errors have kind "slurm", "command" or
// "command_absent".
Result<SlurmNodes> ask_slurm(const SlurmRequest& request, const Environment& environment,
                             Milliseconds patience = Milliseconds(10'000));

// `options` with the nodes that Slurm names; unchanged where it is not asked.
Result<Options> with_slurm_nodes(const Options& options, const Environment& environment);

// An error where one of the nodes is none of these hosts; then those of the nodes alone. Slurm not asked:
// neither does anything.
Status check_slurm_nodes(const SlurmRequest& request, const std::vector<inventory::Host>& hosts);
void keep_slurm_nodes(const SlurmRequest& request, std::vector<inventory::Host>& hosts);

// For people: "slurm job 4242: gpu[01-04]", with the limit behind it where there is one.
std::string said_of_slurm(const SlurmRequest& request, const std::optional<std::string>& limit);

}  // namespace cleanslate::controller
