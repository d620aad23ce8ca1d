// Which share of the hosts is this run's.

#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {

void add_shard_option(CLI::App& app, Options& options) {
    add_text(app, "--shard", "K/N", options.shard_text,
             "Of the selected hosts those of shard K of N, by a hash of their names: a host stays in its "
             "shard. auto: this task of a Slurm array; auto/N: this task (0 to N-1) of a Slurm array, or "
             "index of a Kubernetes Job, of N; see docs/slurm.md (default: all of them)")
        ->group("Hosts");
}

Status combine_shard(Options& options, const Environment& environment) {
    if (!options.shard_text) return {};
    if (options.local)
        return fail("usage", "--local is this machine alone: it does not go together with --shard");
    if (options.expect_hosts)
        return fail("usage",
                    "--expect-hosts is of all hosts: with --shard, give it to cleanslate report merge");
    const auto shard = read_shard(*options.shard_text, environment);
    if (!shard) return std::unexpected(shard.error());
    options.shard = *shard;
    return {};
}

}  // namespace cleanslate::controller
