#include "agentless/ssh/tcp.hpp"

#include <boost/asio/error.hpp>

#include "agentless/run_errors.hpp"

namespace cleanslate::agentless::ssh {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

std::unexpected<Error> connect_error(const asio::ip::tcp::endpoint& where, error_code error) {
    const std::string place = where.address().to_string() + ":" + std::to_string(where.port());
    const auto failed = [&](std::string kind, std::string what, std::string remedy) {
        return std::unexpected(
            Error{std::move(kind), "connect", place + ": " + std::move(what), std::move(remedy)});
    };
    if (error == asio::error::timed_out) {
        return failed("connect_timeout", "no answer in time",
                      "is the host up, and is there a firewall in between?");
    }
    if (error == asio::error::connection_refused) {
        return failed("connect_refused", "connection refused",
                      "is sshd running there, and is this its port?");
    }
    return failed("connect_failed", error.message(), "");
}

}  // namespace

Awaitable<Result<std::shared_ptr<Link>>> connect_tcp(asio::io_context& io,
                                                     const std::shared_ptr<Cancellation>& cancellation,
                                                     Resolver& resolver, const HostSettings& settings,
                                                     Clock::time_point overall) {
    const auto resolve_until = std::min(overall, Clock::now() + settings.connect_timeout);
    const auto addresses =
        co_await resolver.resolve(io, cancellation, settings.host_name, settings.port, resolve_until);
    if (!addresses) co_return std::unexpected(addresses.error());
    const auto deadline = std::min(overall, Clock::now() + settings.connect_timeout);
    error_code error = asio::error::timed_out;
    for (std::size_t i = 0; i < addresses->size(); ++i) {
        const auto share = (deadline - Clock::now()) / static_cast<int>(addresses->size() - i);
        const SocketLink::Protocol::endpoint address((*addresses)[i]);
        auto link = std::make_shared<SocketLink>(io, cancellation);
        error = co_await link->connect(address, Clock::now() + share);
        if (!error) co_return link;
        if (cancellation->requested()) co_return std::unexpected(in_phase(cancelled(), "connect"));
    }
    co_return connect_error(addresses->back(), error);
}

}  // namespace cleanslate::agentless::ssh
