#include "agentless/ssh/tcp.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cerrno>
#include <deque>
#include <optional>
#include <vector>

#include "agentless/run_errors.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

// RFC 8305, section 5: the next address is tried beside the one before after so long.
constexpr auto head_start = 250ms;
// After so long this machine may have a descriptor or a port again.
constexpr auto local_pause = 50ms;
// Of an attempt this young nothing can be said: what held up those before it is the better reason.
constexpr auto too_young = 1s;

std::string shown(const tcp::endpoint& where) {
    const std::string address = where.address().to_string();
    return (where.address().is_v6() ? "[" + address + "]:" : address + ":") + std::to_string(where.port());
}

// Whether this machine could speak to that address at all. A datagram socket's connect() sends nothing: it
// only looks for a route and an address to send from.
bool has_way_to(const tcp::endpoint& where) try {
    asio::io_context io;
    asio::ip::udp::socket socket(io);
    error_code error;
    socket.open(where.address().is_v6() ? asio::ip::udp::v6() : asio::ip::udp::v4(), error);
    if (error) return true;  // not even that could be tried
    socket.connect({where.address(), where.port()}, error);
    return !error;
} catch (const boost::system::system_error&) {
    return true;  // no descriptor for the io_context
}

// This machine has too little of something, and the host is not to blame: descriptors, memory, or ports
// (which reads as a missing address).
bool is_local_shortage(error_code error, const tcp::endpoint& where) {
    switch (error.value()) {
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
        case EAGAIN:
            return true;
        case EADDRNOTAVAIL:
            return has_way_to(where);
        default:
            return false;
    }
}

std::unexpected<Error> connect_error(const tcp::endpoint& where, error_code error) {
    const auto failed = [&](std::string kind, std::string what, std::string remedy) {
        return std::unexpected(
            Error{std::move(kind), "connect", shown(where) + ": " + std::move(what), std::move(remedy)});
    };
    if (error == asio::error::timed_out) {
        return failed("connect_timeout", "no answer in time",
                      "is the host up, and is there a firewall in between?");
    }
    if (error == asio::error::connection_refused) {
        return failed("connect_refused", "connection refused",
                      "is sshd running there, and is this its port?");
    }
    if (error == asio::error::host_unreachable || error == asio::error::network_unreachable)
        return failed("connect_failed", error.message(), "is it up, and is there a route to it from here?");
    return failed("connect_failed", error.message(), "");
}

std::unexpected<Error> shortage_error(error_code error) {
    const bool ports = error.value() == EADDRNOTAVAIL;  // "Cannot assign requested address" names no remedy
    return std::unexpected(Error{"connect_failed", "connect",
                                 "this machine had no place for another connection: " +
                                     (ports ? "no port was free to connect from" : error.message()),
                                 ports
                                     ? "lower --fanout, or give it more ports (net.ipv4.ip_local_port_range)"
                                     : "lower --fanout, or raise the limit of open files (ulimit -n)"});
}

// The attempts at the addresses of one host, side by side: the first that connects wins.
class Race {
  public:
    Race(asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
         std::vector<tcp::endpoint> addresses, const std::optional<asio::ip::address>& from)
        : io_(io),
          cancellation_(cancellation),
          event_(std::make_shared<Event>(io, std::move(cancellation))),
          waiting_(addresses.begin(), addresses.end()),
          last_(addresses.back()) {
        if (from) from_ = SocketLink::Protocol::endpoint(tcp::endpoint(*from, 0));
    }

    ~Race() {
        for (const auto& attempt : attempts_)
            if (attempt->link != winner_) attempt->link->close();
    }

    // What this machine has too little of does not count against the host: its time begins when its first
    // connection is under way.
    Awaitable<Result<std::shared_ptr<Link>>> run(Milliseconds time, Clock::time_point overall,
                                                 Milliseconds shortage) {
        const auto give_up = std::min(overall, Clock::now() + shortage);
        for (;;) {
            collect();
            if (winner_) co_return winner_;
            if (attempts_.empty() && waiting_.empty()) co_return connect_error(last_, error_);
            const auto now = Clock::now();
            const auto deadline = began_ ? std::min(overall, *began_ + time) : give_up;
            if (now >= deadline) co_return late();
            if (!waiting_.empty() && now >= next_) {
                begin(now);
                continue;
            }
            const auto until = waiting_.empty() ? deadline : std::min(next_, deadline);
            const auto woken = co_await event_->wait(until);
            if (woken == Event::Woken::cancelled) co_return stopped();
        }
    }

  private:
    struct Attempt {
        tcp::endpoint where;
        std::shared_ptr<SocketLink> link;
        Clock::time_point began;
        std::optional<error_code> answer;
    };

    void begin(Clock::time_point now) {
        auto attempt = std::make_shared<Attempt>();
        attempt->where = waiting_.front();
        attempt->began = now;
        attempt->link = std::make_shared<SocketLink>(io_, cancellation_);
        waiting_.pop_front();
        next_ = now + head_start;
        attempts_.push_back(attempt);
        const error_code at_once = attempt->link->start_connect(
            SocketLink::Protocol::endpoint(attempt->where),
            [attempt, event = event_](error_code answer) {
                attempt->answer = answer;
                event->notify();
            },
            from_);
        if (at_once)
            attempt->answer = at_once;
        else if (!began_)
            began_ = now;
    }

    // Takes out what has come to its end. Whoever failed makes room for the next address at once; where this
    // machine was the reason, the same address is tried again a little later.
    void collect() {
        for (auto i = attempts_.begin(); i != attempts_.end();) {
            const std::shared_ptr<Attempt> attempt = *i;
            if (!attempt->answer) {
                ++i;
                continue;
            }
            if (!*attempt->answer) {
                winner_ = attempt->link;
                return;
            }
            i = attempts_.erase(i);
            if (is_local_shortage(*attempt->answer, attempt->where)) {
                shortage_ = *attempt->answer;
                waiting_.push_front(attempt->where);
                next_ = Clock::now() + local_pause;
                if (attempts_.empty()) began_.reset();
            } else {
                error_ = *attempt->answer;
                last_ = attempt->where;
                next_ = Clock::now();
            }
        }
    }

    // This machine let none begin but a moment ago.
    bool is_short() const {
        const auto since = Clock::now() - too_young;
        return shortage_ &&
               std::ranges::all_of(attempts_, [&](const auto& attempt) { return attempt->began > since; });
    }

    // A deadline of the sweep cancels, too: what was waited for is to be seen in the report.
    std::unexpected<Error> stopped() const {
        Error error = in_phase(cancelled(), "connect");
        if (is_short()) error.message = shortage_error(shortage_).error().message;
        return std::unexpected(std::move(error));
    }

    std::unexpected<Error> late() const {
        if (is_short()) return shortage_error(shortage_);
        return connect_error(attempts_.empty() ? last_ : attempts_.front()->where, asio::error::timed_out);
    }

    asio::io_context& io_;
    std::shared_ptr<Cancellation> cancellation_;
    std::shared_ptr<Event> event_;
    std::deque<tcp::endpoint> waiting_;
    std::optional<SocketLink::Protocol::endpoint> from_;
    std::vector<std::shared_ptr<Attempt>> attempts_;  // under way
    std::shared_ptr<Link> winner_;
    tcp::endpoint last_;
    error_code error_, shortage_;
    Clock::time_point next_ = Clock::now();
    std::optional<Clock::time_point> began_;  // absent: this machine let none begin
};

// IPv6 and IPv4 in turn, beginning with what the resolver put first (RFC 8305, section 4).
std::vector<tcp::endpoint> interleaved(const std::vector<tcp::endpoint>& addresses) {
    std::vector<tcp::endpoint> first, second, all;
    for (const tcp::endpoint& address : addresses)
        (address.protocol() == addresses.front().protocol() ? first : second).push_back(address);
    for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
        if (i < first.size()) all.push_back(first[i]);
        if (i < second.size()) all.push_back(second[i]);
    }
    return all;
}

// BindAddress. It is looked at by itself first: among the attempts, an address that this machine does not
// have would look like a lack of ports.
Result<std::optional<asio::ip::address>> own_end(const HostSettings& settings) {
    if (settings.bind_address.empty()) return std::nullopt;
    error_code error;
    const auto address = asio::ip::make_address(settings.bind_address, error);
    try {
        asio::io_context io;
        asio::ip::udp::socket socket(io);
        if (!error) socket.open(address.is_v6() ? asio::ip::udp::v6() : asio::ip::udp::v4(), error);
        if (!error) socket.bind({address, 0}, error);
    } catch (const boost::system::system_error& none) {
        if (!error) error = none.code();
    }
    // What this machine is short of is waited for by who connects.
    if (!error || (error.value() != EADDRNOTAVAIL && is_local_shortage(error, {}))) return address;
    return std::unexpected(Error{
        "connect_failed", "connect",
        "cannot connect from " + printable(settings.bind_address) + " (BindAddress): " + error.message(),
        "name an address of this machine"});
}

// AddressFamily, and the family of BindAddress.
Result<std::vector<tcp::endpoint>> of_wanted_family(const std::vector<tcp::endpoint>& addresses,
                                                    const HostSettings& settings,
                                                    const std::optional<asio::ip::address>& from) {
    std::vector<tcp::endpoint> wanted;
    for (const tcp::endpoint& one : addresses) {
        const bool v6 = one.address().is_v6();
        if (settings.family == AddressFamily::inet && v6) continue;
        if (settings.family == AddressFamily::inet6 && !v6) continue;
        if (!from || from->is_v6() == v6) wanted.push_back(one);
    }
    if (!wanted.empty()) return wanted;
    return std::unexpected(
        Error{"resolve_failed", "resolve",
              printable(settings.host_name) +
                  ": has no address of the family that AddressFamily or BindAddress asks for",
              "take the line out of ssh's configuration, or give the host such an address"});
}

}  // namespace

Awaitable<Result<std::shared_ptr<Link>>> connect_tcp(asio::io_context& io,
                                                     const std::shared_ptr<Cancellation>& cancellation,
                                                     Resolver& resolver, const HostSettings& settings,
                                                     Clock::time_point overall) {
    const auto addresses = co_await resolver.resolve(io, cancellation, settings.host_name, settings.port,
                                                     settings.connect_timeout, overall);
    if (!addresses) co_return std::unexpected(addresses.error());
    const auto from = own_end(settings);
    if (!from) co_return std::unexpected(from.error());
    const auto wanted = of_wanted_family(*addresses, settings, *from);
    if (!wanted) co_return std::unexpected(wanted.error());
    co_return co_await connect_any(io, cancellation, *wanted, settings.connect_timeout, overall, *from);
}

Awaitable<Result<std::shared_ptr<Link>>> connect_any(asio::io_context& io,
                                                     const std::shared_ptr<Cancellation>& cancellation,
                                                     const std::vector<tcp::endpoint>& addresses,
                                                     Milliseconds time, Clock::time_point overall,
                                                     std::optional<asio::ip::address> from,
                                                     Milliseconds shortage) {
    std::vector<tcp::endpoint> in_turn = interleaved(addresses);
    Race race(io, cancellation, std::move(in_turn), from);
    co_return co_await race.run(time, overall, shortage);
}

}  // namespace cleanslate::agentless::ssh
