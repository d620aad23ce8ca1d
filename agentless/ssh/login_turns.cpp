#include "agentless/ssh/login_turns.hpp"

#include <algorithm>

namespace cleanslate::agentless::ssh {

// Whoever waits leaves the queue when its coroutine ends, also where that is dropped with its io_context.
class LoginTurns::Queued {
  public:
    Queued(LoginTurns& turns, std::string server, std::shared_ptr<Waiting> waiting)
        : turns_(turns), server_(std::move(server)), waiting_(std::move(waiting)) {}
    ~Queued() {
        if (taken_) return;
        const std::lock_guard lock(turns_.mutex_);
        if (waiting_->called)
            turns_.pass_on(server_);
        else
            std::erase(turns_.servers_[server_].waiting, waiting_);
    }
    Queued(const Queued&) = delete;
    Queued& operator=(const Queued&) = delete;

    // Whether the place is theirs: from then on a Turn gives it back.
    bool take() {
        const std::lock_guard lock(turns_.mutex_);
        return taken_ = waiting_->called;
    }

  private:
    LoginTurns& turns_;
    const std::string server_;
    const std::shared_ptr<Waiting> waiting_;
    bool taken_ = false;
};

Awaitable<std::optional<LoginTurns::Turn>> LoginTurns::take(boost::asio::io_context& io,
                                                            const std::shared_ptr<Cancellation>& cancellation,
                                                            const std::string& server,
                                                            Clock::time_point deadline) {
    Event event(io, cancellation);
    const auto waiting = std::make_shared<Waiting>();
    {
        const std::lock_guard lock(mutex_);
        Server& entry = servers_[server];
        if (entry.under_way < at_a_time) {
            ++entry.under_way;
            co_return Turn(*this, server);
        }
        waiting->wake = event.waker();
        entry.waiting.push_back(waiting);
    }
    Queued queued(*this, server, waiting);
    for (;;) {
        const Event::Woken woken = co_await event.wait(deadline);
        if (woken != Event::Woken::notified) co_return std::nullopt;
        if (queued.take()) co_return Turn(*this, server);
    }
}

void LoginTurns::pass_on(const std::string& server) {
    const auto entry = servers_.find(server);
    if (entry->second.waiting.empty()) {
        if (--entry->second.under_way == 0) servers_.erase(entry);
        return;
    }
    const std::shared_ptr<Waiting> next = std::move(entry->second.waiting.front());
    entry->second.waiting.pop_front();
    next->called = true;
    next->wake();
}

void LoginTurns::give_back(const std::string& server) {
    const std::lock_guard lock(mutex_);
    pass_on(server);
}

}  // namespace cleanslate::agentless::ssh
