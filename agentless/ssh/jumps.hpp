#pragma once
// Hosts that are reached through others: a few sessions a jump host ("lanes"), shared by all hosts behind it,
// each host's bytes in a direct-tcpip channel of one of them.

#include <cstdint>
#include <memory>
#include <string>

#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/link.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless::ssh {

class Opener;

// One for each shard.
class Jumps {
  public:
    // `opener` opens the sessions with the jump hosts and outlives this.
    Jumps(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation, Opener& opener);
    ~Jumps();
    Jumps(const Jumps&) = delete;
    Jumps& operator=(const Jumps&) = delete;

    // A connection to settings.host_name and port as the last hop of settings.proxy_jump sees it. Errors:
    // phase "jump" and kind "jump_failed" where a hop could not be reached or logged in to, or was lost: the
    // same error for all hosts behind it; phase "connect" and kinds "connect_refused", "connect_timeout",
    // "connect_failed" where the hop could not reach the host; "cancelled".
    Awaitable<Result<std::shared_ptr<Link>>> connect(const HostSettings& settings,
                                                     Clock::time_point deadline);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cleanslate::agentless::ssh
