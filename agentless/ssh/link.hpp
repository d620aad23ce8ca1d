#pragma once
// The bytes of one connection: Asio moves them between a socket and two buffers in memory, from which libssh2
// and the agent client take and into which they put without ever waiting. Reader and writer are independent
// of each other: waiting for a flush before reading deadlocks at a few MB of echo.

#include <sys/types.h>

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <memory>
#include <string>

#include "agentless/event.hpp"

namespace cleanslate::agentless::ssh {

// Owned by whoever uses it and by each handler under way, so that no handler outlives what it touches.
// close() makes them let go.
class Link : public std::enable_shared_from_this<Link> {
  public:
    using Protocol = boost::asio::generic::stream_protocol;
    // More unsent than this, and the peer is not reading: the link fails.
    static constexpr std::size_t max_unsent = 16u << 20;

    Link(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation);

    // Gives operation_aborted where cancelled, timed_out at the deadline; the link is then closed.
    Awaitable<boost::system::error_code> connect(const Protocol::endpoint& endpoint,
                                                 Clock::time_point deadline);

    // Takes what is there: at most `size` bytes, 0 at the end of the stream, -EAGAIN where nothing is there
    // yet, another negative errno where the link is closed.
    ssize_t take(void* bytes, std::size_t size);
    // Takes everything. Negative errno where the link is closed.
    ssize_t put(const void* bytes, std::size_t size);

    void flush();       // begins to send what was put
    void want_input();  // begins to read, where there is room and no read under way
    // Notified when input came, output went, or the link failed.
    Event& event() { return event_; }

    bool failed() const { return failed_; }  // the peer closed it, or an error did: no more input will come
    std::size_t unsent() const { return out_.size() + (sending_.size() - sent_); }
    std::size_t received() const { return received_; }  // bytes so far
    int descriptor() { return socket_.native_handle(); }
    void close();

  private:
    void fail();
    void send_rest();

    Protocol::socket socket_;
    Event event_;
    std::array<char, 32768> in_;
    std::size_t in_begin_ = 0, in_end_ = 0;
    std::string out_, sending_;  // sending_ is with Asio while out_ is filled
    std::size_t sent_ = 0;
    std::size_t received_ = 0;
    bool reading_ = false, writing_ = false, failed_ = false, closed_ = false;
};

}  // namespace cleanslate::agentless::ssh
