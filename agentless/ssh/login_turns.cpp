#include "agentless/ssh/login_turns.hpp"

#include <algorithm>

namespace cleanslate::agentless::ssh {

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
    for (;;) {
        const Event::Woken woken = co_await event.wait(deadline);
        const std::lock_guard lock(mutex_);
        if (woken == Event::Woken::notified) {
            if (!waiting->called) continue;
            co_return Turn(*this, server);
        }
        if (waiting->called) {
            pass_on(server);
        } else {
            std::erase(servers_[server].waiting, waiting);
        }
        co_return std::nullopt;
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
