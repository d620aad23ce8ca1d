#pragma once
// Hosts that are reached through others: a few sessions a jump host ("lanes"), shared by all hosts behind it,
// each host's bytes in a direct-tcpip channel of one of them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/link.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless {
struct SshContext;
}

namespace cleanslate::agentless::ssh {

class Opener;

// How one logs in to a hop, which is no host of the inventory: as ssh would with its name alone, that is by
// the configuration and the defaults, whatever user the flags name for the hosts. Keys that they name are
// offered too, unless the configuration names the hop's own.
Result<HostSettings> settings_for_hop(const Endpoint& hop, const SshOptions& options,
                                      const SshConfig& config);

// The hops on the way to a host, first hop first, with those that ssh's configuration puts before the first.
// Each hop's proxy_jump says how it is reached itself. Errors (kind "jump_failed", phase "jump"): a hop that
// makes no sense, or needs itself. Pure.
Result<std::vector<Endpoint>> hops_to(const HostSettings& host, const SshOptions& options,
                                      const SshConfig& config);

// One for each shard.
class Jumps {
  public:
    // `opener` opens the sessions with the jump hosts, and owns this.
    Jumps(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
          std::shared_ptr<SshContext> context, Opener& opener);
    ~Jumps();
    Jumps(const Jumps&) = delete;
    Jumps& operator=(const Jumps&) = delete;

    // A connection to settings.host_name and port as the last hop of settings.proxy_jump sees it. Errors:
    // phase "jump" and kind "jump_failed" where a hop could not be reached or logged in to, or was lost: the
    // same error for all hosts behind it; phase "connect" and kinds "connect_refused", "connect_timeout",
    // "connect_failed" where the hop could not reach the host; "cancelled".
    Awaitable<Result<std::shared_ptr<Link>>> connect(const HostSettings& settings,
                                                     Clock::time_point deadline);
    // No further connections. What is connected stays so until it is closed.
    void close();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cleanslate::agentless::ssh
