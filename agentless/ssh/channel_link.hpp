#pragma once
// A link whose bytes go through a channel of another session: a host behind a jump host.

#include <libssh2.h>

#include <array>
#include <memory>
#include <string>

#include "agentless/ssh/link.hpp"

namespace cleanslate::agentless::ssh {

class Lane;

// Owned by the session that runs over it; shares the lane. Its buffers are small: where nobody takes what
// came, the channel's window closes and the far end stops sending; where the far end does not take what is
// sent, unsent() grows and whoever puts bytes into it stops.
class ChannelLink final : public Link {
  public:
    ChannelLink(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
                std::shared_ptr<Lane> lane, LIBSSH2_CHANNEL* channel);
    ~ChannelLink() override;

    ssize_t take(void* bytes, std::size_t size) override;
    ssize_t put(const void* bytes, std::size_t size) override;
    void flush() override;
    void want_input() override;
    bool failed() const override { return failed_; }
    std::size_t unsent() const override { return out_.size(); }
    std::size_t received() const override { return received_; }
    std::size_t unread() const override { return in_end_ - in_begin_; }
    int descriptor() override;
    void close() override;

    // For the lane: moves what can be moved, and wakes whoever waits where something was. `has_input`: the
    // lane's session got bytes, perhaps for this channel.
    void pump(bool has_input);
    // For the lane, which has ended: the channel is no more.
    void lose();

  private:
    bool send();
    bool receive();

    std::shared_ptr<Lane> lane_;
    LIBSSH2_CHANNEL* channel_;  // null: closed or lost
    std::array<char, 32768> in_;
    std::size_t in_begin_ = 0, in_end_ = 0;
    std::string out_;
    std::size_t received_ = 0;
    bool failed_ = false, closed_ = false;
};

}  // namespace cleanslate::agentless::ssh
