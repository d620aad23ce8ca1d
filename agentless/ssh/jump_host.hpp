#pragma once
// One jump host (with the hops before it), as one shard sees it: its lanes, and the hosts that wait for one.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agentless/ssh/jump_logins.hpp"
#include "agentless/ssh/lane.hpp"

namespace cleanslate::agentless::ssh {

class JumpHost final : public LaneOwner, public std::enable_shared_from_this<JumpHost> {
  public:
    // Opens one more session with it. Null: whoever opened them is gone.
    using OpenSession =
        std::function<Awaitable<Result<std::unique_ptr<Session>>>(Clock::time_point deadline)>;

    // `name`: for messages. `key`: who shares refusals with it.
    JumpHost(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
             std::shared_ptr<JumpLogins> logins, std::string name, std::string key, OpenSession open_session);

    // As Jumps::connect().
    Awaitable<Result<std::shared_ptr<Link>>> connect(const std::string& host, std::uint16_t port,
                                                     Milliseconds connect_timeout,
                                                     Clock::time_point deadline);
    // No further connections. The lanes end with their last channel.
    void close();

    std::shared_ptr<OpenRequest> next_request() override;
    Error refused_by_jump() const override;
    Error no_way_to(const OpenRequest& request) const override;
    Error no_answer_of(const OpenRequest& request) const override;
    void lane_held_up() override { deal(); }
    void lane_ended(Lane& lane, std::shared_ptr<OpenRequest> unanswered) override;

  private:
    static Awaitable<void> log_in(std::shared_ptr<JumpHost> self);
    Awaitable<bool> pause_before_login();
    void logged_in(std::unique_ptr<Session> session);
    void login_failed(const Error& error);
    void deal();
    bool wants_lane() const;
    bool has_lane() const;
    void answer_all(const Error& error);
    std::optional<Error> known_failure() const;
    Error late(const OpenRequest& request, bool is_cancelled) const;
    Error failure(const Error& cause) const;

    boost::asio::io_context& io_;
    std::shared_ptr<Cancellation> cancellation_;
    std::shared_ptr<JumpLogins> logins_;
    std::string name_, key_;
    OpenSession open_session_;
    std::vector<std::shared_ptr<Lane>> lanes_;
    std::deque<std::shared_ptr<OpenRequest>> waiting_;
    int logging_in_ = 0;
    int failures_ = 0;             // since the last login that succeeded
    bool was_open_ = false;        // since it was given up for the last time
    std::optional<Error> broken_;  // what is answered until broken_until_
    Clock::time_point broken_until_{}, next_login_{};
    bool closed_ = false;
};

}  // namespace cleanslate::agentless::ssh
