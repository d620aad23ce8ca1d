#include "agentless/ssh/agent_lists.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::chrono_literals;

constexpr auto list_lasts = 10s;
constexpr auto failure_lasts = 30s;
constexpr auto turn_lasts = 5s;  // whoever took it may be gone

}  // namespace

bool AgentList::holds(std::string_view blob) const { return std::ranges::find(keys, blob) != keys.end(); }

Awaitable<AgentList> list_agent(AgentClient& agent, Clock::time_point deadline) {
    AgentList list;
    const Status connected = co_await agent.connect(deadline);
    if (!connected) {
        list.problem = connected.error().message;
        list.cut = connected.error().kind == "cancelled";
        co_return list;
    }
    auto keys = co_await agent.identities(deadline);
    if (keys) {
        list.keys = std::move(*keys);
    } else {
        list.problem = keys.error().message;
        list.cut = keys.error().kind == "cancelled";
    }
    co_return list;
}

AgentList list_agent_now(const std::string& socket, std::chrono::milliseconds patience) {
    boost::asio::io_context io{1};
    AgentList list;
    bool done = false;
    {
        AgentClient agent(io, std::make_shared<Cancellation>(), socket);
        boost::asio::co_spawn(io, list_agent(agent, Clock::now() + patience),
                              [&](std::exception_ptr, AgentList listed) {
                                  list = std::move(listed);
                                  done = true;
                              });
        while (!done && io.run_one() > 0) continue;  // not to the end: an agent that hangs is still read from
    }
    io.restart();
    io.run();  // what the closed connection has left to do
    return list;
}

AgentLists::List AgentLists::known(const std::string& socket, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    const Entry& entry = entries_[socket];
    return entry.list && now < entry.fresh_until ? entry.list : nullptr;
}

bool AgentLists::take_turn(const std::string& socket, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[socket];
    if (now < entry.asked_until) return false;
    entry.asked_until = now + turn_lasts;
    return true;
}

AgentLists::List AgentLists::note(const std::string& socket, AgentList list, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[socket];
    entry.asked_until = now;
    const bool failed = !list.problem.empty();
    if (failed && entry.list && entry.list->problem.empty() && now < entry.fresh_until) return entry.list;
    auto shared = std::make_shared<const AgentList>(std::move(list));
    if (shared->cut) return shared;
    entry.list = shared;
    entry.fresh_until = now + (failed ? failure_lasts : list_lasts);
    return shared;
}

}  // namespace cleanslate::agentless::ssh
