#pragma once
// Host names to addresses, off the shards' threads: a few threads of our own, since Asio resolves one name
// after another and getaddrinfo() can hang for half a minute.

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <vector>

#include "agentless/event.hpp"

namespace cleanslate::agentless::ssh {

// Shared by all shards. Its threads are started when first needed; the destructor does not wait for a thread
// that hangs in getaddrinfo(): such a one owns all that it touches and ends on its own.
class Resolver {
  public:
    Resolver();
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // Addresses in the order to try them; at least one. An IP address is taken as it is. Errors have phase
    // "resolve" and kind "resolve_failed" or "cancelled". A name waits in line for one of our threads: `time`
    // begins when one takes it up, and ends the wait in line only where meanwhile no name at all was
    // answered.
    Awaitable<Result<std::vector<boost::asio::ip::tcp::endpoint>>> resolve(
        boost::asio::io_context& io, const std::shared_ptr<Cancellation>& cancellation,
        const std::string& host, std::uint16_t port, Milliseconds time, Clock::time_point overall);

  private:
    struct Pool;
    std::shared_ptr<Pool> pool_;
};

}  // namespace cleanslate::agentless::ssh
