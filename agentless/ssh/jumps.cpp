#include "agentless/ssh/jumps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "agentless/run_errors.hpp"
#include "agentless/ssh/jump_host.hpp"
#include "agentless/ssh/opener.hpp"
#include "agentless/ssh/ssh_context.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t most_hops = 16;

std::unexpected<Error> no_way(std::string message, std::string remedy) {
    return std::unexpected(Error{"jump_failed", "jump", std::move(message), std::move(remedy)});
}

std::string login_of(const HostSettings& settings) {
    return fmt::format("{}@{}:{}", settings.user, settings.host_name, settings.port);
}

// Follows the hops back to the first that is reached directly.
class Way {
  public:
    Way(const SshOptions& options, const SshConfig& config) : options_(options), config_(config) {}

    // The host itself may well stand where its jump host does (a head node among its own nodes): only a hop
    // that is needed on the way to itself has no end.
    Status add(const HostSettings& to) {
        const std::vector<std::string> texts = to.proxy_jump;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            auto hop = endpoint_of_hop(texts[i]);
            if (!hop) return no_way(hop.error().message, hop.error().remedy);
            const auto settings = settings_for_hop(*hop, options_, config_);
            if (!settings) return no_way(settings.error().message, settings.error().remedy);
            if (std::ranges::find(logins_, login_of(*settings)) != logins_.end() ||
                logins_.size() > most_hops) {
                return no_way(
                    "jump host " + printable(texts[i]) + " needs itself: ProxyJump goes in a circle",
                    "except it from ProxyJump in ssh's configuration (Host !NAME *, or ProxyJump "
                    "none before)");
            }
            // A hop that is not the first is reached by those before it, whatever the configuration says.
            logins_.push_back(login_of(*settings));
            if (i == 0) {
                if (const auto before = add(*settings); !before) return before;
            }
            if (!hops_.empty()) hop->proxy_jump = fmt::format("{}", fmt::join(names(), ","));
            hops_.push_back(std::move(*hop));
        }
        return {};
    }

    std::vector<Endpoint> hops() && { return std::move(hops_); }

  private:
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const Endpoint& hop : hops_) names.push_back(hop.name);
        return names;
    }

    const SshOptions& options_;
    const SshConfig& config_;
    std::vector<std::string> logins_;  // of the hops so far
    std::vector<Endpoint> hops_;
};

Awaitable<Result<std::unique_ptr<Session>>> open_hop(std::weak_ptr<Opener> weak, Endpoint hop,
                                                     Clock::time_point deadline) {
    const std::shared_ptr<Opener> opener = weak.lock();
    if (!opener) co_return std::unexpected(in_phase(cancelled(), "jump"));
    co_return co_await opener->open_hop(hop, deadline);
}

}  // namespace

Result<HostSettings> settings_for_hop(const Endpoint& hop, const SshOptions& options,
                                      const SshConfig& config) {
    SshOptions of_hop = options;
    of_hop.user.clear();
    of_hop.identity_files.clear();
    auto settings = settings_for(hop, of_hop, config);
    if (!settings || options.identity_files.empty()) return settings;
    ConfigQuery query{hop.address};
    if (!hop.user.empty()) query.user = hop.user;
    query.port = hop.port;
    const auto configured = config.values_for(query);
    if (!configured) return std::unexpected(configured.error());
    if (configured->identity_files.empty() && !configured->identity_files_given) {
        settings->identity_files.insert(settings->identity_files.begin(), options.identity_files.begin(),
                                        options.identity_files.end());
    }
    return settings;
}

Result<std::vector<Endpoint>> hops_to(const HostSettings& host, const SshOptions& options,
                                      const SshConfig& config) {
    Way way(options, config);
    if (const auto found = way.add(host); !found) return std::unexpected(found.error());
    return std::move(way).hops();
}

struct Jumps::State {
    Result<std::shared_ptr<JumpHost>> host_before(const HostSettings& settings) {
        const auto hops = hops_to(settings, context->options, context->config);
        if (!hops) return std::unexpected(hops.error());
        std::vector<std::string> names;
        for (const Endpoint& hop : *hops) names.push_back(hop.name);
        const std::string key = fmt::format("{}", fmt::join(names, ","));
        auto& jump = hosts[key];
        if (jump) return jump;
        std::string name = printable(names.back());
        names.pop_back();
        if (!names.empty()) name += printable(fmt::format(" (through {})", fmt::join(names, ", ")));
        jump = std::make_shared<JumpHost>(
            io, cancellation, context->jump_logins, name, key,
            [weak = opener.weak_from_this(), hop = hops->back()](Clock::time_point deadline) {
                return open_hop(weak, hop, deadline);
            });
        return jump;
    }

    boost::asio::io_context& io;
    std::shared_ptr<Cancellation> cancellation;
    std::shared_ptr<SshContext> context;
    Opener& opener;
    std::map<std::string, std::shared_ptr<JumpHost>> hosts;  // by their hops, first hop first
};

Jumps::Jumps(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
             std::shared_ptr<SshContext> context, Opener& opener)
    : state_(new State{io, std::move(cancellation), std::move(context), opener, {}}) {}

Jumps::~Jumps() { close(); }

void Jumps::close() {
    for (const auto& [key, host] : state_->hosts) host->close();
}

Awaitable<Result<std::shared_ptr<Link>>> Jumps::connect(const HostSettings& settings,
                                                        Clock::time_point deadline) {
    const auto jump = state_->host_before(settings);
    if (!jump) co_return std::unexpected(jump.error());
    co_return co_await (*jump)->connect(settings.host_name, settings.port, settings.connect_timeout,
                                        deadline);
}

}  // namespace cleanslate::agentless::ssh
