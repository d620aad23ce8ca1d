#pragma once
// TCP connections: all addresses of a name are tried, and what this machine has too little of is waited for.

#include <memory>
#include <optional>
#include <vector>

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

// A port of a connection that has ended is free again after a minute (TIME_WAIT).
inline constexpr Milliseconds longest_shortage{90'000};

// The same of addresses, IPv6 and IPv4 in turn: each gets a quarter of a second before the next is tried
// beside it, and the first that connects wins. `time` begins with the first attempt: while this machine has
// no descriptor or port left, it is waited for, up to `overall` and for no longer than `shortage`.
// `addresses` is not empty; with `from`, this machine's end, all are of its family.
Awaitable<Result<std::shared_ptr<Link>>> connect_any(
    boost::asio::io_context& io, const std::shared_ptr<Cancellation>& cancellation,
    const std::vector<boost::asio::ip::tcp::endpoint>& addresses, Milliseconds time,
    Clock::time_point overall, std::optional<boost::asio::ip::address> from = std::nullopt,
    Milliseconds shortage = longest_shortage);

}  // namespace cleanslate::agentless::ssh
