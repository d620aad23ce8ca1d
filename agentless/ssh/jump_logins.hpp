#pragma once
// Which jump hosts refused a login. An account is never hammered with a key that was refused, whatever number
// of hosts is behind it and of shards reach for them: one login is tried, while the others wait for it.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "agentless/event.hpp"

namespace cleanslate::agentless::ssh {

// Shared by all shards.
class JumpLogins {
  public:
    // The right to log in. The first at a jump host excludes all others until it says how it went, or is
    // dropped.
    class Turn {
      public:
        Turn(JumpLogins& logins, std::string jump, bool first)
            : logins_(&logins), jump_(std::move(jump)), first_(first) {}
        Turn(Turn&& other) noexcept
            : logins_(std::exchange(other.logins_, nullptr)),
              jump_(std::move(other.jump_)),
              first_(other.first_) {}
        Turn& operator=(Turn&&) = delete;
        ~Turn();
        void succeeded();
        // For good: nobody tries again.
        void refused(const Error& error);

      private:
        JumpLogins* logins_;
        std::string jump_;
        bool first_;
    };

    // Errors: how an earlier login was refused; kind "cancelled".
    Awaitable<Result<Turn>> take(boost::asio::io_context& io,
                                 const std::shared_ptr<Cancellation>& cancellation, const std::string& jump);
    // How a login there was refused before; absent where none was.
    std::optional<Error> refusal(const std::string& jump) const;

  private:
    struct Jump {
        bool trying = false, proven = false;
        std::optional<Error> refusal;
        std::set<const std::function<void()>*> waiting;
    };
    // Takes itself out of the list, also with a coroutine that is dropped.
    class Waiting;
    void wake(Jump& jump);  // with mutex_ held

    mutable std::mutex mutex_;
    std::map<std::string, Jump> jumps_;
};

}  // namespace cleanslate::agentless::ssh
