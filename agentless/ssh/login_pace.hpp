#pragma once
// How many logins one shard has under way. Each costs this machine a millisecond or two of key exchange: a
// thousand begun at once would all end late, and the last ones behind their deadlines, although no host was
// slow.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "agentless/event.hpp"

namespace cleanslate::agentless::ssh {

class LoginPace : public std::enable_shared_from_this<LoginPace> {
  public:
    static constexpr std::size_t at_a_time = 256;

    // One login under way, until this is gone.
    class Turn {
      public:
        Turn(std::shared_ptr<LoginPace> pace, std::uint64_t number)
            : pace_(std::move(pace)), number_(number) {}
        Turn(Turn&& other) noexcept = default;
        Turn& operator=(Turn&&) = delete;
        ~Turn() {
            if (pace_) pace_->end(number_);
        }

      private:
        std::shared_ptr<LoginPace> pace_;
        std::uint64_t number_;
    };

    // Waits for a turn, in the order of asking. One that is older than `counts_for` is a host that hangs, and
    // keeps nobody waiting. Absent: cancelled, or the deadline passed.
    Awaitable<std::optional<Turn>> take(boost::asio::io_context& io,
                                        std::shared_ptr<Cancellation> cancellation, Milliseconds counts_for,
                                        Clock::time_point deadline);

  private:
    class Queued;
    bool have_room(Clock::time_point now);
    Clock::time_point first_to_expire() const;  // there is one under way
    void end(std::uint64_t number);
    void wake_first();

    std::map<std::uint64_t, Clock::time_point> under_way_;  // until when each counts
    std::uint64_t last_ = 0;
    std::deque<Event*> waiting_;
};

}  // namespace cleanslate::agentless::ssh
