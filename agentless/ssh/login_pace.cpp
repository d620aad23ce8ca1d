#include "agentless/ssh/login_pace.hpp"

#include <algorithm>

namespace cleanslate::agentless::ssh {

// Whoever waits leaves the queue when its coroutine ends, also where that is dropped with its io_context.
class LoginPace::Queued {
  public:
    Queued(std::shared_ptr<LoginPace> pace, Event& event) : pace_(std::move(pace)), event_(event) {
        pace_->waiting_.push_back(&event_);
    }
    ~Queued() {
        std::erase(pace_->waiting_, &event_);
        pace_->wake_first();
    }
    Queued(const Queued&) = delete;
    Queued& operator=(const Queued&) = delete;

    bool is_first() const { return pace_->waiting_.front() == &event_; }

  private:
    std::shared_ptr<LoginPace> pace_;
    Event& event_;
};

Awaitable<std::optional<LoginPace::Turn>> LoginPace::take(boost::asio::io_context& io,
                                                          std::shared_ptr<Cancellation> cancellation,
                                                          Milliseconds counts_for,
                                                          Clock::time_point deadline) {
    const std::shared_ptr<LoginPace> self = shared_from_this();
    if (!waiting_.empty() || !have_room(Clock::now())) {
        Event event(io, std::move(cancellation));
        const Queued queued(self, event);
        while (!queued.is_first() || !have_room(Clock::now())) {
            // A turn that is given back wakes the first, and so does one that counts no more.
            const auto until = queued.is_first() ? std::min(deadline, first_to_expire()) : deadline;
            const Event::Woken woken = co_await event.wait(until);
            if (woken == Event::Woken::cancelled || Clock::now() >= deadline) co_return std::nullopt;
        }
    }
    under_way_.emplace(++last_, Clock::now() + counts_for);
    co_return Turn(self, last_);
}

bool LoginPace::have_room(Clock::time_point now) {
    std::erase_if(under_way_, [&](const auto& turn) { return turn.second <= now; });
    return under_way_.size() < at_a_time;
}

Clock::time_point LoginPace::first_to_expire() const {
    return std::ranges::min_element(under_way_, {}, [](const auto& turn) { return turn.second; })->second;
}

void LoginPace::end(std::uint64_t number) {
    if (under_way_.erase(number) > 0) wake_first();
}

void LoginPace::wake_first() {
    if (!waiting_.empty()) waiting_.front()->notify();
}

}  // namespace cleanslate::agentless::ssh
