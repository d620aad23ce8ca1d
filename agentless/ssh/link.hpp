#pragma once
// The bytes of one connection, in memory: libssh2 and the agent client take from it and put into it without
// ever waiting; somebody else moves the bytes (socket_link.hpp: Asio; channel_link.hpp: a session that goes
// before this one).

#include <sys/types.h>

#include <cstddef>
#include <memory>

#include "agentless/event.hpp"

namespace cleanslate::agentless::ssh {

class Link {
  public:
    // More unsent than this, and the peer is not reading: the link fails.
    static constexpr std::size_t max_unsent = 16u << 20;

    Link(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation)
        : event_(io, std::move(cancellation)) {}
    virtual ~Link() = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // Takes what is there: at most `size` bytes, 0 at the end of the stream, -EAGAIN where nothing is there
    // yet, another negative errno where the link is closed.
    virtual ssize_t take(void* bytes, std::size_t size) = 0;
    // Takes everything. Negative errno where the link is closed.
    virtual ssize_t put(const void* bytes, std::size_t size) = 0;

    virtual void flush() = 0;       // begins to send what was put
    virtual void want_input() = 0;  // begins to read, where there is room and no read under way
    // Notified when input came, output went, or the link failed.
    Event& event() { return event_; }

    virtual bool failed() const = 0;  // the peer closed it, or an error did: no more input will come
    virtual std::size_t unsent() const = 0;
    virtual std::size_t received() const = 0;  // bytes so far
    virtual std::size_t unread() const = 0;    // of these, what take() has still to give
    // A descriptor for libssh2, which only looks at its flags.
    virtual int descriptor() = 0;
    virtual void close() = 0;

  private:
    Event event_;
};

}  // namespace cleanslate::agentless::ssh
