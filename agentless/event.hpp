#pragma once
// The one operation that waits, and how everything that waits is cancelled. For the transports; one thread
// only.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "agentless/transport.hpp"

namespace cleanslate::agentless {

class Event;

// Shared by a transport and everything it started: what cancel_all() reaches.
class Cancellation {
  public:
    bool requested() const { return requested_; }
    inline void request();

  private:
    friend class Event;
    bool requested_ = false;
    std::set<Event*> events_;
};

// A condition variable of one thread with one waiter. A notification that nobody waits for is kept for the
// next wait.
class Event {
  public:
    enum class Woken { notified, deadline, cancelled };

    Event(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation)
        : timer_(io), cancellation_(std::move(cancellation)) {
        cancellation_->events_.insert(this);
    }
    ~Event() { cancellation_->events_.erase(this); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    void notify() {
        notified_ = true;
        timer_.cancel();
    }

    // Notifies it from any thread, and does nothing once it is gone. The io_context has to be there.
    std::function<void()> waker() {
        return [executor = timer_.get_executor(), weak = std::weak_ptr<Event*>(self_)] {
            boost::asio::post(executor, [weak] {
                if (const auto event = weak.lock()) (*event)->notify();
            });
        };
    }

    // Cancellation wins over the deadline and the deadline over notifications, so that a flood of events
    // cannot keep an operation alive.
    Awaitable<Woken> wait(Clock::time_point deadline) {
        if (!notified_ && !cancellation_->requested()) {
            timer_.expires_at(deadline);
            boost::system::error_code woken_early;
            co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, woken_early));
        }
        notified_ = false;
        if (cancellation_->requested()) co_return Woken::cancelled;
        co_return Clock::now() >= deadline ? Woken::deadline : Woken::notified;
    }

  private:
    boost::asio::steady_timer timer_;
    std::shared_ptr<Cancellation> cancellation_;
    std::shared_ptr<Event*> self_ = std::make_shared<Event*>(this);
    bool notified_ = false;
};

inline void Cancellation::request() {
    requested_ = true;
    for (Event* event : events_) event->notify();
}

}  // namespace cleanslate::agentless
