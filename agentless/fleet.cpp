#include "agentless/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "agentless/become.hpp"
#include "agentless/descriptors.hpp"
#include "agentless/engine.hpp"
#include "agentless/local_transport.hpp"
#include "agentless/ssh/ssh_transport.hpp"
#include "agentless/ssh_reach.hpp"
#include "base/text.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::agentless {

namespace {

HostKeyPolicy policy_of(HostKeyCheck check) {
    switch (check) {
        case HostKeyCheck::strict:
            return HostKeyPolicy::strict;
        case HostKeyCheck::accept_new:
            return HostKeyPolicy::accept_new;
        case HostKeyCheck::off:
            return HostKeyPolicy::off;
    }
    return HostKeyPolicy::strict;
}

}  // namespace

SshOptions ssh_options(const Reach& reach) {
    SshOptions options;
    options.user = reach.user;
    options.identity_files = reach.identity_files;
    options.agent_socket = reach.agent_socket;
    options.known_hosts = reach.known_hosts;
    if (reach.host_key_check) options.host_keys = policy_of(*reach.host_key_check);
    options.config_file = reach.ssh_config;
    options.connect_timeout = reach.connect_timeout;
    options.password = reach.password;
    return options;
}

namespace {

// That host keys were not checked is said whoever asked for it: a flag, or ssh's configuration.
void note_unchecked(const SshContext& context, const Reach& reach, std::vector<std::string>& notes) {
    const std::vector<std::string> hosts = unchecked_hosts(context);
    if (hosts.empty()) return;
    const bool by_flag = reach.host_key_check == HostKeyCheck::off;
    notes.push_back(fmt::format("host keys were not checked ({}): {} ({})",
                                by_flag ? "--host-key-check off" : "StrictHostKeyChecking no",
                                printable(ellipsize(inventory::fold(hosts), 300)), hosts.size()));
}

// Lowers a fan-out for which this process has too few descriptors. What to say about it; empty: nothing.
std::string fit_fanout(SweepLimits& limits, std::size_t hosts, const SshContext* context) {
    Descriptors descriptors = raise_descriptor_limit();
    if (context != nullptr && !asks_agents(*context)) descriptors.a_host = 1;
    const int asked = limits.fanout;
    const int wanted = std::min(asked, static_cast<int>(std::min<std::size_t>(hosts, 1'000'000)));
    const auto shards = static_cast<std::size_t>(
        limits.threads > 0 ? limits.threads : std::max(1u, std::thread::hardware_concurrency()));
    const auto used = std::min(shards, static_cast<std::size_t>(std::max(1, wanted)));
    const int fitting = fitting_fanout(wanted, descriptors, used);
    limits.under_way = fitting_under_way(asked, std::min(fitting, asked), descriptors, used);
    if (fitting >= wanted) return {};
    limits.fanout = fitting;
    return fmt::format(
        "{} hosts at a time, not {}: a process may have {} files open here (ulimit -Hn); a host that does "
        "not "
        "answer {}",
        fitting, wanted, descriptors.limit,
        limits.under_way > fitting ? "gives its place to the next" : "holds up others");
}

}  // namespace

Status prepare(Reach& reach, const std::vector<HostTask>& tasks, const AskSecret& ask) {
    if (reach.local) return {};
    auto context = load_ssh_context(ssh_options(reach));
    if (!context) return std::unexpected(context.error());
    std::vector<Endpoint> endpoints;
    for (const HostTask& task : tasks) endpoints.push_back(endpoint_of(task.host, reach));
    if (auto unlocked = unlock_identities(**context, endpoints, ask); !unlocked) return unlocked;
    reach.ssh = std::move(*context);
    return {};
}

struct Sweep::State {
    Reach reach;
    std::string fanout_note;  // empty: it is as wanted
    Engine engine;
};

Sweep::Sweep(std::vector<HostTask> tasks, Job job, Reach reach, SweepLimits limits, Observer& observer,
             Audit& audit) {
    std::string note = reach.local ? std::string() : fit_fanout(limits, tasks.size(), reach.ssh.get());
    state_.reset(new State{
        reach, std::move(note), {std::move(tasks), std::move(job), reach, limits, observer, audit}});
}

Sweep::~Sweep() = default;

Result<SweepResult> Sweep::run() {
    const auto& secret = state_->reach.become_password;
    if (state_->reach.local)
        return state_->engine.run([&](auto& io) { return becoming(make_local_transport(io), secret); });

    if (!state_->reach.ssh) {
        if (auto prepared = prepare(state_->reach, {}, nullptr); !prepared)
            return std::unexpected(prepared.error());
    }
    const std::shared_ptr<SshContext> context = state_->reach.ssh;
    auto result =
        state_->engine.run([&](auto& io) { return becoming(make_ssh_transport(io, context), secret); });
    keep_host_keys(*context);
    result.notes = ssh_notes(*context);
    note_unchecked(*context, state_->reach, result.notes);
    if (!state_->fanout_note.empty()) result.notes.push_back(state_->fanout_note);
    return result;
}

void Sweep::stop() { state_->engine.stop(); }

std::vector<std::pair<std::string, std::string>> Sweep::unfinished() const {
    return state_->engine.unfinished();
}

}  // namespace cleanslate::agentless
