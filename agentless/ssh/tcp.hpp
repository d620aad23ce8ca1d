#pragma once
// TCP connections: all addresses of a name are tried, and what this machine has too little of is waited for.

#include <memory>

#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/resolver.hpp"
#include "agentless/ssh/socket_link.hpp"

namespace cleanslate::agentless::ssh {

// Errors have phase "resolve" or "connect", and kind "resolve_failed", "connect_refused", "connect_timeout",
// "connect_failed", "cancelled".
Awaitable<Result<std::shared_ptr<Link>>> connect_tcp(boost::asio::io_context& io,
                                                     const std::shared_ptr<Cancellation>& cancellation,
                                                     Resolver& resolver, const HostSettings& settings,
                                                     Clock::time_point deadline);

}  // namespace cleanslate::agentless::ssh
