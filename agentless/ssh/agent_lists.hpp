#pragma once
// Which keys the agents hold: asked once for many logins, and asked anew after a while.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agentless/ssh/agent_client.hpp"

namespace cleanslate::agentless::ssh {

struct AgentList {
    std::vector<std::string> keys;  // blobs of keys and certificates
    std::string problem;            // why there are none: "the agent does not answer"
    bool cut = false;               // nothing is known: it was cancelled
    bool holds(std::string_view blob) const;
};

// Connects and lists.
Awaitable<AgentList> list_agent(AgentClient& agent, Clock::time_point deadline);
// The same without a shard: waits in this thread. For the time before the first contact.
AgentList list_agent_now(const std::string& socket, std::chrono::milliseconds patience);

// Shared by all shards. A list is believed for some seconds, and so is a failure: an agent that hangs costs
// its time once, not at each host.
class AgentLists {
  public:
    using List = std::shared_ptr<const AgentList>;

    // Null where none is known, or none that is fresh.
    List known(const std::string& socket, Clock::time_point now);
    // True: the caller is to ask the agent and to call note(). False: somebody else does at the moment.
    bool take_turn(const std::string& socket, Clock::time_point now);
    // Keeps the list and gives what is to be used: a failure does not replace a list that is fresh.
    List note(const std::string& socket, AgentList list, Clock::time_point now);

  private:
    struct Entry {
        List list;
        Clock::time_point fresh_until, asked_until;
    };
    std::mutex mutex_;
    std::map<std::string, Entry> entries_;
};

}  // namespace cleanslate::agentless::ssh
