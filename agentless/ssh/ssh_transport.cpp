#include "agentless/ssh/ssh_transport.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>

#include "agentless/run_errors.hpp"
#include "agentless/ssh/command.hpp"
#include "agentless/ssh/jumps.hpp"
#include "agentless/ssh/opener.hpp"
#include "agentless/ssh/session.hpp"
#include "agentless/ssh/ssh_context.hpp"

namespace cleanslate::agentless {
namespace ssh {
namespace {

class SshConnection final : public Connection {
  public:
    SshConnection(std::shared_ptr<Cancellation> cancellation, std::unique_ptr<Session> session)
        : cancellation_(std::move(cancellation)), session_(std::move(session)) {}

    Awaitable<Result<RunOutput>> run(const Script& script, Limits limits) override {
        if (cancellation_->requested()) co_return std::unexpected(cancelled());
        if (!session_) co_return std::unexpected(connection_dead());
        // Taken out until the run has come to its own end: one that is cut takes the session with it.
        std::unique_ptr<Session> session = std::move(session_);
        auto result = co_await run_command(*session, script, limits);
        if (result) session_ = std::move(session);
        co_return result;
    }

  private:
    std::shared_ptr<Cancellation> cancellation_;
    std::unique_ptr<Session> session_;
};

class SshTransport final : public Transport {
  public:
    SshTransport(boost::asio::io_context& io, std::shared_ptr<SshContext> context)
        : opener_(std::make_shared<Opener>(io, cancellation_, std::move(context))) {}
    ~SshTransport() override { opener_->close(); }

    Awaitable<Result<std::unique_ptr<Connection>>> open(const Endpoint& endpoint,
                                                        Clock::time_point deadline) override {
        auto session = co_await opener_->open(endpoint, deadline);
        if (!session) co_return std::unexpected(std::move(session.error()));
        std::unique_ptr<Connection> connection =
            std::make_unique<SshConnection>(cancellation_, std::move(*session));
        co_return connection;
    }

    void cancel_all() override { cancellation_->request(); }

  private:
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
    std::shared_ptr<Opener> opener_;
};

// Who runs this, in the password database: as for ssh, the environment does not count.
std::string caller() {
    const passwd* entry = getpwuid(getuid());
    return entry != nullptr ? entry->pw_name : "";
}

std::string home_of_caller() {
    const char* home = std::getenv("HOME");
    const passwd* entry = getpwuid(getuid());
    return home != nullptr && *home != '\0' ? home : entry != nullptr ? entry->pw_dir : "";
}

// The settings of hosts and jump hosts that differ in what keys they need: of 10,000 hosts mostly one.
class KeyUsers {
  public:
    explicit KeyUsers(const SshContext& context) : context_(context) {}

    void add(const Endpoint& endpoint) {
        auto settings = settings_for(endpoint, context_.options, context_.config);
        if (!settings) return;
        const auto hops = hops_to(*settings, context_.options, context_.config);
        add(std::move(*settings));
        if (!hops) return;
        for (const Endpoint& hop : *hops) {
            if (!hops_.insert(hop.name).second) continue;
            auto of_hop = settings_for_hop(hop, context_.options, context_.config);
            if (of_hop) add(std::move(*of_hop));
        }
    }

    std::vector<HostSettings> take() { return std::move(settings_); }

  private:
    void add(HostSettings settings) {
        const bool is_new = seen_
                                .emplace(settings.identity_files, settings.certificate_files,
                                         settings.agent_socket, settings.identities_named)
                                .second;
        if (is_new) settings_.push_back(std::move(settings));
    }

    const SshContext& context_;
    std::set<std::tuple<std::vector<std::string>, std::vector<std::string>, std::string, bool>> seen_;
    std::set<std::string> hops_;
    std::vector<HostSettings> settings_;
};

Result<SshConfig> load_config(const SshOptions& options) {
    if (options.config_file == "none") return SshConfig();
    if (options.config_file)
        return SshConfig::load({*options.config_file}, true, options.home, options.local_user);
    std::vector<std::string> files;
    if (!options.home.empty()) files.push_back(options.home + "/.ssh/config");
    files.push_back("/etc/ssh/ssh_config");
    return SshConfig::load(files, false, options.home, options.local_user);
}

}  // namespace
}  // namespace ssh

Result<std::shared_ptr<SshContext>> load_ssh_context(const SshOptions& options) {
    if (auto started = ssh::start_library(); !started) return std::unexpected(started.error());
    auto context = std::make_shared<SshContext>();
    context->options = options;
    if (context->options.home.empty()) context->options.home = ssh::home_of_caller();
    if (context->options.local_user.empty()) context->options.local_user = ssh::caller();
    auto config = ssh::load_config(context->options);
    if (!config) return std::unexpected(config.error());
    context->config = std::move(*config);
    auto identities = ssh::Identities::load(context->options);
    if (!identities) return std::unexpected(identities.error());
    context->identities = std::move(*identities);
    auto host_keys = ssh::HostKeys::load(context->options);
    if (!host_keys) return std::unexpected(host_keys.error());
    context->host_keys = std::move(*host_keys);
    return context;
}

Status unlock_identities(SshContext& context, const std::vector<Endpoint>& endpoints, const AskSecret& ask) {
    ssh::KeyUsers users(context);
    for (const Endpoint& endpoint : endpoints) users.add(endpoint);
    const std::vector<ssh::HostSettings> settings = users.take();
    context.asks_agents = std::ranges::any_of(
        settings, [](const ssh::HostSettings& some) { return !some.agent_socket.empty(); });
    return context.identities->unlock(settings, ask);
}

bool asks_agents(const SshContext& context) { return context.asks_agents; }

std::vector<std::string> ssh_notes(const SshContext& context) {
    std::vector<std::string> notes = context.config.notes();
    for (const auto& more : {context.identities->notes(), context.host_keys->notes()})
        notes.insert(notes.end(), more.begin(), more.end());
    return notes;
}

std::vector<std::string> keep_host_keys(SshContext& context) { return context.host_keys->write_down(); }

std::vector<std::string> unchecked_hosts(const SshContext& context) { return context.host_keys->unchecked(); }

std::unique_ptr<Transport> make_ssh_transport(boost::asio::io_context& io,
                                              std::shared_ptr<SshContext> context) {
    return std::make_unique<ssh::SshTransport>(io, std::move(context));
}

}  // namespace cleanslate::agentless
