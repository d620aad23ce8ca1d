#pragma once
// A link over a socket. Reader and writer are independent of each other: waiting for a flush before reading
// deadlocks at a few MB of echo.

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agentless/ssh/link.hpp"

namespace cleanslate::agentless::ssh {

// Owned by whoever uses it and by each handler under way, so that no handler outlives what it touches.
// close() makes them let go.
class SocketLink : public Link, public std::enable_shared_from_this<SocketLink> {
  public:
    using Protocol = boost::asio::generic::stream_protocol;

    SocketLink(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation);

    // Begins to connect; `done` is called once, on this thread, unless the link is closed before. A failed
    // link is closed. An error that is known at once (no descriptor, no port) is given back instead. `from`
    // is this machine's end; absent: the system chooses.
    boost::system::error_code start_connect(const Protocol::endpoint& endpoint,
                                            std::function<void(boost::system::error_code)> done,
                                            const std::optional<Protocol::endpoint>& from = std::nullopt);
    // Gives operation_aborted where cancelled, timed_out at the deadline; the link is then closed.
    Awaitable<boost::system::error_code> connect(const Protocol::endpoint& endpoint,
                                                 Clock::time_point deadline);
    // Takes a connected socket of this family (AF_UNIX of a socketpair), which it then owns.
    boost::system::error_code assign(int family, int descriptor);

    ssize_t take(void* bytes, std::size_t size) override;
    ssize_t put(const void* bytes, std::size_t size) override;
    void flush() override;
    void want_input() override;
    bool failed() const override { return failed_; }
    std::size_t unsent() const override { return out_.size() + (sending_.size() - sent_); }
    std::size_t received() const override { return received_; }
    std::size_t unread() const override { return in_.size() - in_begin_; }
    int descriptor() override { return socket_.native_handle(); }
    void close() override;

  private:
    // So much that nobody has taken yet, and no more is read.
    static constexpr std::size_t max_unread = 32768;
    void fail();
    void read();
    void send_rest();

    Protocol::socket socket_;
    std::string in_;  // from in_begin_ on it is not taken yet
    std::size_t in_begin_ = 0;
    std::string out_, sending_;  // sending_ is with Asio while out_ is filled
    std::size_t sent_ = 0;
    std::size_t received_ = 0, taken_ = 0;
    std::size_t moved_ = 0;  // of both, when somebody was woken for what was left
    bool reading_ = false, writing_ = false, failed_ = false, closed_ = false;
};

}  // namespace cleanslate::agentless::ssh
