#pragma once
// One session with a jump host, and the channels of the hosts behind it.

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agentless/ssh/channel_link.hpp"
#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

// A connection that a host waits for.
struct OpenRequest {
    OpenRequest(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation)
        : done(io, std::move(cancellation)) {}

    std::string target;                      // "host:port", for messages
    std::string message;                     // what direct-tcpip asks for
    std::optional<Clock::time_point> begun;  // the jump host was asked
    std::optional<Result<std::shared_ptr<Link>>> answer;
    bool given_up = false;  // nobody waits for the answer any more
    int losses = 0;         // so many lanes were lost while they had it
    std::weak_ptr<Lane> lane;
    Event done;  // it was begun, or there is an answer
};

// What a lane tells, and asks, the jump host it belongs to.
class LaneOwner {
  public:
    virtual ~LaneOwner() = default;
    virtual std::shared_ptr<OpenRequest> next_request() = 0;  // null: none
    virtual Error refused_by_jump() const = 0;                // it forwards nothing
    virtual Error no_way_to(const OpenRequest& request) const = 0;
    virtual Error no_answer_of(const OpenRequest& request) const = 0;
    virtual void lane_held_up() = 0;
    // `unanswered` was under way; null: none.
    virtual void lane_ended(Lane& lane, std::shared_ptr<OpenRequest> unanswered) = 0;
};

// Lives as long as its pump or a link of it does. The pump owns the session.
class Lane : public std::enable_shared_from_this<Lane> {
  public:
    // What a host may send that nobody takes, in libssh2's own queue.
    static constexpr unsigned window = 256u << 10;
    // Far below the descriptors that an sshd has for one session (1,024).
    static constexpr std::size_t max_channels = 512;

    Lane(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
         std::weak_ptr<LaneOwner> owner, std::unique_ptr<Session> session);

    // Moves everything until the session is lost, cancelled, or nobody needs the lane any more.
    static Awaitable<void> pump(std::shared_ptr<Lane> lane);

    // Makes the pump look whether there is something to do.
    void wake();
    // No further requests; it ends with its last channel.
    void retire();

    bool idle() const { return session_ && !retired_ && !open_ && channels() < max_channels; }
    // The open that is under way has taken long, and none can begin before it has its answer.
    bool held_up() const { return open_ && held_up_; }
    // Only there for the channels that it has. Nobody waits for the open's answer any more, but one that was
    // begun cannot be taken back.
    bool stuck() const { return retired_ || (open_ && open_->given_up); }
    std::size_t channels() const { return links_.size(); }

    // Notices, while it lives, whether a call of libssh2 reads what the session has received: any call may,
    // and what it reads may be another channel's. Then the lane has a turn, for all its channels, and
    // receives again: where all of them were full, nothing had been read, and nothing would wake it.
    class Reading {
      public:
        explicit Reading(Lane& lane) : lane_(lane), before_(lane.unread()) {}
        ~Reading() {
            if (lane_.unread() != before_) lane_.others_may_have_input();
        }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;

      private:
        Lane& lane_;
        std::size_t before_;
    };

    // For ChannelLink.
    void add(ChannelLink& link) { links_.insert(&link); }
    void remove(ChannelLink& link, LIBSSH2_CHANNEL* channel);
    bool is_full() const;
    void flush();
    int descriptor();

  private:
    std::size_t unread() const;
    void others_may_have_input();
    bool turn();
    bool step_open();
    bool answer_open(LIBSSH2_CHANNEL* channel, int code);
    void free_closed();
    Clock::time_point next_look() const;
    void end();

    boost::asio::io_context& io_;
    std::shared_ptr<Cancellation> cancellation_;
    std::weak_ptr<LaneOwner> owner_;
    std::shared_ptr<Session> session_;  // null: ended
    std::set<ChannelLink*> links_;
    std::vector<LIBSSH2_CHANNEL*> closing_;  // until the far end has closed them too
    std::shared_ptr<OpenRequest> open_;      // under way: libssh2 can have one
    std::size_t seen_ = 0;                   // of what the session received
    bool was_read_ = false;                  // outside a turn, perhaps what is others'
    bool held_up_ = false, retired_ = false;
};

}  // namespace cleanslate::agentless::ssh
