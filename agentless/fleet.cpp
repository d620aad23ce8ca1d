#include "agentless/fleet.hpp"

#include <fmt/format.h>

#include "agentless/engine.hpp"
#include "agentless/local_transport.hpp"
#include "agentless/ssh/ssh_transport.hpp"

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

SshOptions ssh_options(const Reach& reach) {
    SshOptions options;
    options.user = reach.user;
    options.identity_files = reach.identity_files;
    options.agent_socket = reach.agent_socket;
    options.known_hosts = reach.known_hosts;
    options.host_keys = policy_of(reach.host_key_check);
    options.connect_timeout = reach.connect_timeout;
    return options;
}

}  // namespace

struct Sweep::State {
    Reach reach;
    Engine engine;
};

Sweep::Sweep(std::vector<HostTask> tasks, Job job, Reach reach, SweepLimits limits, Observer& observer,
             Audit& audit)
    : state_(new State{reach, {std::move(tasks), std::move(job), reach, limits, observer, audit}}) {}

Sweep::~Sweep() = default;

Result<SweepResult> Sweep::run() {
    if (state_->reach.local) return state_->engine.run([](auto& io) { return make_local_transport(io); });

    const auto context = load_ssh_context(ssh_options(state_->reach));
    if (!context) return std::unexpected(context.error());
    auto result = state_->engine.run([&](auto& io) { return make_ssh_transport(io, *context); });
    result.notes = ssh_notes(**context);
    if (state_->reach.host_key_check == HostKeyCheck::off)
        result.notes.push_back("host keys were not checked (--host-key-check off)");
    return result;
}

void Sweep::stop() { state_->engine.stop(); }

std::vector<std::pair<std::string, std::string>> Sweep::unfinished() const {
    return state_->engine.unfinished();
}

}  // namespace cleanslate::agentless
