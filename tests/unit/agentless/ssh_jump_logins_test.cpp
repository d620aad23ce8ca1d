#include "agentless/ssh/jump_logins.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <vector>

namespace cleanslate::agentless::ssh {
namespace {

class SshJumpLogins : public testing::Test {
  protected:
    using Turn = Result<JumpLogins::Turn>;

    // Asks for a turn; what came of it is in turns_ at this place, once it came.
    std::size_t ask(const std::string& jump) {
        turns_.emplace_back();
        boost::asio::co_spawn(io_, take(jump, turns_.size() - 1), boost::asio::detached);
        go_on();
        return turns_.size() - 1;
    }
    Awaitable<void> take(std::string jump, std::size_t place) {
        auto turn = co_await logins_.take(io_, cancellation_, jump);
        turns_[place] = std::make_unique<Turn>(std::move(turn));
    }
    Awaitable<void> wait_in(boost::asio::io_context& io) {
        const std::string jump = "jump";
        const auto turn = co_await logins_.take(io, cancellation_, jump);
        ADD_FAILURE() << "it was called";
    }
    void go_on() {
        io_.restart();
        io_.poll();
    }
    bool waits(std::size_t place) { return turns_[place] == nullptr; }

    JumpLogins logins_;  // outlives whoever waits for it
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
    boost::asio::io_context io_{1};
    std::vector<std::unique_ptr<Turn>> turns_;
};

TEST_F(SshJumpLogins, the_first_login_is_waited_for_and_then_all_go) {
    const auto first = ask("jump"), second = ask("jump"), third = ask("jump");
    ASSERT_FALSE(waits(first));
    EXPECT_TRUE(waits(second));
    EXPECT_TRUE(waits(third));
    (*turns_[first])->succeeded();
    go_on();
    EXPECT_FALSE(waits(second));
    EXPECT_FALSE(waits(third));
    EXPECT_FALSE(waits(ask("jump")));
    EXPECT_FALSE(logins_.refusal("jump"));
}

TEST_F(SshJumpLogins, a_refusal_is_everybodys_for_good) {
    const auto first = ask("jump"), second = ask("jump");
    (*turns_[first])->refused(Error{"jump_failed", "jump", "no", ""});
    turns_[first].reset();
    go_on();
    for (const auto place : {second, ask("jump")}) {
        ASSERT_FALSE(waits(place));
        ASSERT_FALSE(turns_[place]->has_value());
        EXPECT_EQ(turns_[place]->error().message, "no");
    }
    EXPECT_EQ(logins_.refusal("jump")->message, "no");
}

TEST_F(SshJumpLogins, a_turn_that_is_dropped_passes_on) {
    const auto first = ask("jump"), second = ask("jump"), third = ask("jump");
    turns_[first].reset();
    go_on();
    EXPECT_NE(waits(second), waits(third)) << "one at a time";
}

TEST_F(SshJumpLogins, jump_hosts_do_not_wait_for_each_other) {
    ask("one");
    EXPECT_FALSE(waits(ask("other")));
}

TEST_F(SshJumpLogins, whoever_waits_can_be_cancelled) {
    ask("jump");
    const auto second = ask("jump");
    cancellation_->request();
    go_on();
    ASSERT_FALSE(waits(second));
    EXPECT_EQ(turns_[second]->error().kind, "cancelled");
}

TEST_F(SshJumpLogins, whoever_is_dropped_while_waiting_is_not_called) {
    const auto first = ask("jump");
    {
        boost::asio::io_context io{1};
        boost::asio::co_spawn(io, wait_in(io), boost::asio::detached);
        io.poll();
    }
    turns_[first].reset();
    EXPECT_FALSE(waits(ask("jump")));
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
