#include "controller/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "controller/inventory_programs.hpp"
#include "controller/slurm_nodes.hpp"
#include "inventory/node_set.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t max_baseline = 64u << 20;

inventory::Host this_machine() {
    char name[256] = {};
    inventory::Host host;
    host.address = "localhost";
    host.name = ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
    return host;
}

std::string value_of(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string{} : found->second;
}

void add_missing(std::vector<std::string>& list, const std::vector<std::string>& more) {
    for (const std::string& entry : more)
        if (std::ranges::find(list, entry) == list.end()) list.push_back(entry);
}

}  // namespace

Result<inventory::Inventory> load_inventory(const Options& options) {
    if (options.targets) return inventory::Inventory::from_targets(*options.targets);
    if (options.slurm.nodes && options.inventories.empty())
        return inventory::Inventory::from_targets(fmt::format("{}", fmt::join(*options.slurm.nodes, ",")));
    InventoryPrograms programs;
    auto inventory = inventory::Inventory::load(options.inventories, programs);
    if (!inventory) return inventory;
    if (auto known = check_slurm_nodes(options.slurm, inventory->hosts()); !known)
        return std::unexpected(known.error());
    return inventory;
}

Result<std::optional<Share>> take_share(std::vector<inventory::Host>& hosts, const Options& options) {
    if (!options.shard) return std::nullopt;
    std::vector<std::string> names;
    for (const auto& host : hosts) names.push_back(host.name);
    auto share = share_of(*options.shard, names);
    if (!share) return std::unexpected(share.error());
    std::erase_if(hosts, [&](const auto& host) {
        return shard_of(host.name, options.shard->count) != options.shard->index;
    });
    return std::optional(std::move(*share));
}

std::string limit_of(const Options& options) {
    if (options.only) return "all";
    if (options.limit || !options.slurm.nodes) return options.limit.value_or("all");
    return fmt::format("{}", fmt::join(*options.slurm.nodes, ","));
}

void keep_only(const Options& options, std::vector<inventory::Host>& hosts) {
    keep_slurm_nodes(options.slurm, hosts);
    if (!options.only) return;
    const std::unordered_set<std::string> only(options.only->begin(), options.only->end());
    std::erase_if(hosts, [&](const inventory::Host& host) { return !only.contains(host.name); });
}

Result<Selection> select_hosts(const Options& options, Wanted wanted) {
    if (options.local) return Selection{{this_machine()}, {}, {}};
    auto inventory = load_inventory(options);
    if (!inventory) return std::unexpected(inventory.error());
    auto notes = inventory->notes();
    const std::string limit = limit_of(options);
    auto hosts = wanted == Wanted::names ? inventory->select_for_names(limit, notes)
                                         : std::move(*inventory).select(limit);
    if (!hosts) return std::unexpected(hosts.error());
    keep_only(options, *hosts);
    if (hosts->empty() && options.slurm.nodes)
        return fail("limit", fmt::format("{} leaves no host of {}: {}", printable(options.limit.value_or("")),
                                         options.slurm.source, inventory::fold(*options.slurm.nodes)));
    if (hosts->empty()) return fail("limit", "no host is selected");
    auto share = take_share(*hosts, options);
    if (!share) return std::unexpected(share.error());
    if (hosts->empty())
        notes.push_back(fmt::format("shard {} has none of the {} selected hosts", to_string(*options.shard),
                                    (*share)->hosts_in_all));
    return Selection{std::move(*hosts), std::move(notes), std::move(*share)};
}

agentless::HostTask task_for(const inventory::Host& host, const Options& options,
                             const std::vector<std::string>& playbook_protect,
                             std::shared_ptr<const agentless::Baseline> baseline) {
    agentless::HostTask task;
    task.host = host;
    // A user in -H stands closer to its host than -u does.
    if (options.user && !(options.targets && host.user)) task.host.user = options.user;
    if (!options.identities.empty()) task.host.identity_file.reset();
    if (!host.proxy_jump) task.host.proxy_jump = options.beneath.jump;
    if (options.beneath.accept_new && !(host.ssh && host.ssh->host_keys)) {
        inventory::SshSettings ssh = host.ssh ? *host.ssh : inventory::SshSettings{};
        ssh.host_keys = inventory::HostKeyTrust::accept_new;
        task.host.ssh = std::make_shared<const inventory::SshSettings>(std::move(ssh));
    }
    agentless::Expectations& expect = task.expectations;
    expect.gpus = host.gpus;
    expect.max_used = host.max_used;
    if (options.max_used) expect.max_used = options.max_used;
    expect.baseline = std::move(baseline);
    if (!expect.max_used && !expect.baseline) expect.max_used = options.beneath.max_used;
    expect.unified_memory = host.unified_memory.value_or(false);
    expect.require_holders = options.require_holders;
    expect.raw_commands = options.raw_commands;
    expect.protection.protect = host.protect;
    add_missing(expect.protection.protect, playbook_protect);
    add_missing(expect.protection.protect, options.protect);
    expect.protection.unprotect = host.unprotect;
    add_missing(expect.protection.unprotect, options.unprotect);
    return task;
}

Result<std::shared_ptr<const agentless::Baseline>> load_baseline(const Options& options) {
    if (!options.baseline) return nullptr;
    const auto text = read_file(*options.baseline, max_baseline);
    if (!text) return std::unexpected(text.error());
    auto baseline = agentless::parse_baseline(*text, *options.baseline);
    if (!baseline) return std::unexpected(baseline.error());
    if (options.baseline_margin) baseline->margin = *options.baseline_margin;
    return std::make_shared<const agentless::Baseline>(std::move(*baseline));
}

agentless::Reach reach_for(const Options& options, const Environment& environment) {
    agentless::Reach reach;
    reach.local = options.local;
    reach.user = options.user.value_or(options.beneath.user.value_or(""));
    reach.identity_files = options.identities.empty() ? options.beneath.identities : options.identities;
    reach.agent_socket = value_of(environment, "SSH_AUTH_SOCK");
    reach.known_hosts = options.known_hosts;
    reach.host_key_check = options.host_key_check;
    reach.connect_timeout = options.connect_timeout;
    reach.ssh_config = options.ssh_config;
    reach.jump = options.jump;
    reach.become = options.become;
    return reach;
}

Result<agentless::Job> job_for(const Options& options, const Environment& environment) {
    using Kind = agentless::Job::Kind;
    agentless::Job job;
    job.kind = options.command == Command::clear ? Kind::clear
               : options.command == Command::run ? Kind::run
                                                 : Kind::check;
    job.command = options.remote_command;
    job.dry_run = options.dry_run;
    job.include_jobs = options.include_jobs;
    job.settle = options.settle;
    job.allow_reset = options.allow_reset;
    job.allow_reboot = options.allow_reboot;
    job.allow_shm = options.allow_shm;
    job.max_kills = options.max_kills;
    job.max_kills_total = options.max_kills_total;
    job.reboots_at_a_time = options.serial;
    job.lock_wait = options.lock_wait;
    if (const std::string own = value_of(environment, "SLURM_JOB_ID"); !own.empty()) job.own_job = own;
    if (job.kind != Kind::clear) return job;
    auto playbook = playbooks::load_playbook(options.playbook, options.settings);
    if (!playbook) return std::unexpected(playbook.error());
    job.playbook = std::move(*playbook);
    return job;
}

std::vector<std::string> idle_flags(const Options& options, const playbooks::Playbook& playbook) {
    std::vector<std::string> notes;
    const auto say = [&](bool given, std::string_view flag, auto has, std::string_view step) {
        if (given && std::ranges::none_of(playbook.steps, has))
            notes.push_back(fmt::format("{} changes nothing: playbook {} has no `{}` step", flag,
                                        printable(playbook.name), step));
    };
    const auto reset = [](const auto& step) {
        return std::holds_alternative<playbooks::ResetStep>(step.action);
    };
    const auto reboot = [](const auto& step) {
        return std::holds_alternative<playbooks::RebootStep>(step.action);
    };
    const auto shm = [](const auto& step) {
        return std::holds_alternative<playbooks::CleanShmStep>(step.action);
    };
    say(options.allow_reset, "--allow-reset", reset, "reset");
    say(options.allow_reboot, "--allow-reboot", reboot, "reboot");
    say(options.serial != 1, "--serial", reboot, "reboot");
    say(options.allow_shm, "--allow-shm", shm, "clean_shm");
    return notes;
}

}  // namespace cleanslate::controller
