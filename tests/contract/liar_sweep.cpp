#include "tests/contract/liar_sweep.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

namespace cleanslate::agentless::contract {
namespace {

struct NoAudit : Audit {
    Status intend(const HostOutcome&, const std::vector<SignalAction>&) override { return {}; }
    Status intend(const HostOutcome&, const std::vector<CommandAction>&) override { return {}; }
    void result(const HostOutcome&, const std::vector<SignalAction>&) override {}
    void result(const HostOutcome&, const std::vector<CommandAction>&) override {}
};

}  // namespace

LiarSweep::LiarSweep() {
    write_file(file("id"), liar::Key().pem());
    options.identity_files = {file("id")};
    options.known_hosts = {file("known_hosts")};
    options.config_file = "none";
    options.home = file("home");  // which is not there
}

liar::Liar& LiarSweep::add(const std::string& name, liar::Hook hook, liar::Output output) {
    liars_.push_back(std::make_unique<liar::Liar>(std::move(hook), liar::Key(), std::move(output)));
    const Endpoint endpoint = liars_.back()->endpoint();
    HostTask task;
    task.host.name = name;
    task.host.address = endpoint.address;
    task.host.port = endpoint.port;
    task.host.user = endpoint.user;
    tasks_.push_back(task);
    return *liars_.back();
}

Endpoint LiarSweep::endpoint_of(int listener, const liar::Key& key) {
    sockaddr_in where{};
    socklen_t size = sizeof where;
    getsockname(listener, reinterpret_cast<sockaddr*>(&where), &size);
    const std::uint16_t port = ntohs(where.sin_port);
    write_file(options.known_hosts[0], key.known_hosts_line(fmt::format("[127.0.0.1]:{}", port)));
    return {.name = "liar", .address = "127.0.0.1", .port = port, .user = "nobody", .identity_file = {}};
}

SweepResult LiarSweep::run() {
    std::string known;
    for (const auto& liar : liars_) known += liar->known_hosts_line();
    write_file(options.known_hosts[0], known);
    options.connect_timeout = patience;
    const auto context = load_ssh_context(options);
    if (!context) {
        ADD_FAILURE() << context.error().message;
        return {};
    }
    SweepLimits limits;
    limits.fanout = static_cast<int>(tasks_.size());
    limits.threads = threads;
    limits.step_timeout = patience;
    Observer nobody;
    NoAudit no_audit;
    Engine engine(tasks_, Job{}, Reach{}, limits, nobody, no_audit);
    return engine.run([&](auto& io) { return make_ssh_transport(io, *context); });
}

}  // namespace cleanslate::agentless::contract
