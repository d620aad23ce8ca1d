// How many logins a shard has under way, and who is next.

#include "agentless/ssh/login_pace.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::chrono_literals;

class ALoginPace : public ::testing::Test {
  protected:
    // Asks for a turn; it goes to turns_, or -1 to order_ where there is none.
    void ask(int number, Milliseconds counts_for = 60s, Milliseconds time = 60s) {
        boost::asio::co_spawn(io_, ask_one(number, counts_for, Clock::now() + time), boost::asio::detached);
        settle();
    }
    void settle() {
        io_.restart();
        while (io_.poll() > 0) {
        }
    }
    void fill(Milliseconds counts_for = 60s) {
        for (std::size_t i = 0; i < LoginPace::at_a_time; ++i) ask(0, counts_for);
        ASSERT_EQ(turns_.size(), LoginPace::at_a_time);
        order_.clear();
    }
    Awaitable<void> ask_one(int number, Milliseconds counts_for, Clock::time_point deadline) {
        auto turn = co_await pace_->take(io_, cancellation_, counts_for, deadline);
        order_.push_back(turn ? number : -1);
        if (turn) turns_.push_back(std::move(*turn));
    }

    boost::asio::io_context io_;
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
    std::shared_ptr<LoginPace> pace_ = std::make_shared<LoginPace>();
    std::deque<LoginPace::Turn> turns_;
    std::vector<int> order_;
};

TEST_F(ALoginPace, LetsSoManyInAndTheOthersAsTurnsAreGivenBackInTheirOrder) {
    fill();
    for (const int number : {1, 2, 3}) ask(number);
    EXPECT_TRUE(order_.empty());
    turns_.pop_front();
    settle();
    EXPECT_EQ(order_, (std::vector{1}));
    turns_.pop_front();
    turns_.pop_front();
    settle();
    EXPECT_EQ(order_, (std::vector{1, 2, 3}));
}

TEST_F(ALoginPace, DoesNotWaitForOneThatHangs) {
    fill(20ms);
    ask(1);
    ask(2);
    io_.restart();
    while (order_.size() < 2 && io_.run_one_for(10s) > 0) {
    }
    EXPECT_EQ(order_, (std::vector{1, 2}));
    turns_.clear();  // also those that counted no more
    settle();
}

TEST_F(ALoginPace, LooksForTheNextThatCountsNoMoreNotForTheFirstThatBegan) {
    ask(0, 60s);
    for (std::size_t i = 1; i < LoginPace::at_a_time; ++i) ask(0, 20ms);
    order_.clear();
    ask(1);
    io_.restart();
    while (order_.empty() && io_.run_one_for(10s) > 0) {
    }
    EXPECT_EQ(order_, (std::vector{1}));
    turns_.clear();
    settle();
}

TEST_F(ALoginPace, EndsWithItsDeadlineAndPassesTheQueueOn) {
    fill();
    ask(1, 60s, 20ms);
    ask(2);
    io_.restart();
    while (order_.empty() && io_.run_one_for(10s) > 0) {
    }
    EXPECT_EQ(order_, (std::vector{-1}));
    turns_.pop_front();
    settle();
    EXPECT_EQ(order_, (std::vector{-1, 2}));
}

TEST_F(ALoginPace, EndsForAllWhereTheyAreCancelled) {
    fill();
    ask(1);
    ask(2);
    cancellation_->request();
    settle();
    EXPECT_EQ(order_, (std::vector{-1, -1}));
}

TEST_F(ALoginPace, OutlivesAQueueThatIsDroppedWithItsIoContext) {
    {
        boost::asio::io_context io;
        for (std::size_t i = 0; i <= LoginPace::at_a_time; ++i)
            boost::asio::co_spawn(
                io,
                [](std::shared_ptr<LoginPace> pace, boost::asio::io_context& at,
                   std::shared_ptr<Cancellation> cancellation) -> Awaitable<void> {
                    auto turn = co_await pace->take(at, cancellation, 60s, Clock::now() + 60s);
                    Event never(at, cancellation);
                    co_await never.wait(Clock::time_point::max());
                }(pace_, io, cancellation_),
                boost::asio::detached);
        while (io.poll() > 0) {
        }
    }
    ask(1);
    EXPECT_EQ(order_, (std::vector{1}));
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
