#pragma once
// From the command line and the inventory to what a sweep needs. Precedence: flag given > host variable >
// nearest group (the inventory has done that) > config file > default.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agentless/baseline.hpp"
#include "agentless/fleet.hpp"
#include "base/result.hpp"
#include "controller/options.hpp"
#include "inventory/host.hpp"
#include "inventory/inventory.hpp"

namespace cleanslate::controller {

struct Selection {
    std::vector<inventory::Host> hosts;  // in the order of the inventory; none only of a share
    std::vector<std::string> notes;      // the inventory's, worth saying once
    std::optional<Share> share;          // --shard: what the hosts are a part of
};

// All hosts that there are to choose from: the inventory's, -H's or this machine.
Result<inventory::Inventory> load_inventory(const Options& options);

// --shard: takes the hosts of other shards away. Absent: there are no shards.
Result<std::optional<Share>> take_share(std::vector<inventory::Host>& hosts, const Options& options);

// The limit to select by; --last-failed and Slurm then keep their own of those hosts, by name: a host may be
// called like a group.
std::string limit_of(const Options& options);
void keep_only(const Options& options, std::vector<inventory::Host>& hosts);

// Errors leave everything uncontacted: with `hosts` also a setting of theirs that can not be used, with
// `names` that is a note.
enum class Wanted { hosts, names };
Result<Selection> select_hosts(const Options& options, Wanted wanted = Wanted::hosts);

// `baseline`: --baseline's, else null.
agentless::HostTask task_for(const inventory::Host& host, const Options& options,
                             const std::vector<std::string>& playbook_protect,
                             std::shared_ptr<const agentless::Baseline> baseline = nullptr);

// --baseline's file with --baseline-margin; null where it was not given.
Result<std::shared_ptr<const agentless::Baseline>> load_baseline(const Options& options);

agentless::Reach reach_for(const Options& options, const Environment& environment);

// Reads the playbook of `clear`.
Result<agentless::Job> job_for(const Options& options, const Environment& environment);

// Flags for a kind of step that the playbook does not have: worth a note.
std::vector<std::string> idle_flags(const Options& options, const playbooks::Playbook& playbook);

}  // namespace cleanslate::controller
