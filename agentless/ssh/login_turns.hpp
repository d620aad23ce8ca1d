#pragma once
// How many logins one server may have under way at a time. OpenSSH drops connections at random from the tenth
// that has not logged in (MaxStartups 10:30:100), dropbear from the sixth of one address.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "agentless/event.hpp"

namespace cleanslate::agentless::ssh {

// Shared by all shards.
class LoginTurns {
  public:
    static constexpr int at_a_time = 5;

    // One login under way, until this is gone.
    class Turn {
      public:
        Turn(LoginTurns& turns, std::string server) : turns_(&turns), server_(std::move(server)) {}
        Turn(Turn&& other) noexcept
            : turns_(std::exchange(other.turns_, nullptr)), server_(std::move(other.server_)) {}
        Turn& operator=(Turn&&) = delete;
        ~Turn() {
            if (turns_ != nullptr) turns_->give_back(server_);
        }

      private:
        LoginTurns* turns_ = nullptr;
        std::string server_;
    };

    // Waits for a place at this server, in the order of asking. Absent: cancelled, or the deadline passed.
    Awaitable<std::optional<Turn>> take(boost::asio::io_context& io,
                                        const std::shared_ptr<Cancellation>& cancellation,
                                        const std::string& server, Clock::time_point deadline);

  private:
    // Whoever waits for a place.
    struct Waiting {
        std::function<void()> wake;
        bool called = false;  // the place is theirs
    };
    class Queued;
    struct Server {
        int under_way = 0;
        std::deque<std::shared_ptr<Waiting>> waiting;
    };
    // The place goes to whoever waits longest. With mutex_ held.
    void pass_on(const std::string& server);
    void give_back(const std::string& server);

    std::mutex mutex_;
    std::map<std::string, Server> servers_;  // those with a login under way
};

}  // namespace cleanslate::agentless::ssh
