#include "agentless/fleet.hpp"

#include <fmt/format.h>

#include "agentless/become.hpp"
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

}  // namespace

struct Sweep::State {
    Reach reach;
    Engine engine;
};

Sweep::Sweep(std::vector<HostTask> tasks, Job job, Reach reach, SweepLimits limits, Observer& observer,
             Audit& audit) {
    state_.reset(new State{reach, {std::move(tasks), std::move(job), reach, limits, observer, audit}});
}

Sweep::~Sweep() = default;

Result<SweepResult> Sweep::run() {
    const auto& secret = state_->reach.become_password;
    if (state_->reach.local)
        return state_->engine.run([&](auto& io) { return becoming(make_local_transport(io), secret); });

    const auto context = load_ssh_context(ssh_options(state_->reach));
    if (!context) return std::unexpected(context.error());
    auto result =
        state_->engine.run([&](auto& io) { return becoming(make_ssh_transport(io, *context), secret); });
    keep_host_keys(**context);
    result.notes = ssh_notes(**context);
    note_unchecked(**context, state_->reach, result.notes);
    return result;
}

void Sweep::stop() { state_->engine.stop(); }

std::vector<std::pair<std::string, std::string>> Sweep::unfinished() const {
    return state_->engine.unfinished();
}

}  // namespace cleanslate::agentless
