// Jump hosts that die, and hosts behind them that are dropped, at any time.
#include <filesystem>
#include <future>

#include <thread>

#include "tests/contract/jump_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

// Opens a host and begins to run `sleep` there.
Awaitable<void> hold(Transport& transport, Endpoint endpoint, std::string command,
                     std::vector<Result<RunOutput>>& ended) {
    auto connection = co_await transport.open(endpoint, in(60s));
    if (!connection) {
        ended.push_back(std::unexpected(connection.error()));
        co_return;
    }
    const Script script{command, ""};
    const Limits limits{in(300s)};
    auto ran = co_await (*connection)->run(script, limits);
    ended.push_back(std::move(ran));
}

class SshJumpLost : public SshJump {
  protected:
    void begin_hold(const Endpoint& endpoint, const std::string& command = "sleep 300") {
        boost::asio::co_spawn(io_, hold(*transport_, endpoint, command, ended_),
                              [](std::exception_ptr thrown) {
                                  if (thrown) std::rethrow_exception(thrown);
                              });
    }
    template <class Condition>
    void run_until(Condition condition) {
        const auto deadline = in(60s);
        io_.restart();
        while (!condition() && Clock::now() < deadline) io_.run_for(20ms);
        ASSERT_TRUE(condition());
    }

    std::vector<Result<RunOutput>> ended_;
};

TEST_F(SshJumpLost, hosts_in_the_middle_of_a_run_lose_it_and_later_ones_get_a_new_session) {
    const Sshd jump;
    start(options_for({&jump}));
    for (int i = 0; i < 4; ++i)
        begin_hold(through(hop(jump)), "echo > " + target_->file("began") + "$$; sleep 300");
    run_until([&] {
        int began = 0;
        for (const auto& entry : std::filesystem::directory_iterator(target_->file("")))
            began += entry.path().filename().string().starts_with("began");
        return began == 4;
    });
    jump.kill_sessions();
    run_until([&] { return ended_.size() == 4; });
    for (const auto& ran : ended_) {
        ASSERT_FALSE(ran);
        EXPECT_EQ(ran.error().kind, "connection_lost") << ran.error().message;
    }
    for (const Visit& visit : visit_each(through(hop(jump), 3)))
        EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
    EXPECT_EQ(count_of(jump.log(), "Accepted publickey"), 2);
}

TEST_F(SshJumpLost, one_that_is_gone_for_good_is_tried_a_few_times_and_is_then_one_error_for_all) {
    Sshd jump;
    start(options_for({&jump}));
    EXPECT_TRUE(visit_each(through(hop(jump), 1)).front().ok("in\n"));
    jump.stop();
    const Error error = one_error(visit_each(through(hop(jump), 20)));
    EXPECT_EQ(error.kind, "jump_failed") << error.message;
    EXPECT_EQ(error.phase, "jump");
    expect_says(error.message, "jump host " + hop(jump));
    const auto begin = Clock::now();
    EXPECT_EQ(one_error(visit_each(through(hop(jump), 20))).message, error.message);
    EXPECT_LT(Clock::now() - begin, 10s) << "what is known is said at once";
}

TEST_F(SshJumpLost, one_that_comes_back_soon_is_waited_for) {
    Sshd jump;
    start(options_for({&jump}));
    EXPECT_TRUE(visit_each(through(hop(jump), 1)).front().ok("in\n"));
    jump.stop();
    std::promise<void> visited;
    std::thread back([&] {  // what it starts ends with it
        std::this_thread::sleep_for(400ms);
        jump.start();
        visited.get_future().wait();
    });
    const auto visits = visit_each(through(hop(jump), 5));
    visited.set_value();
    back.join();
    for (const Visit& visit : visits) EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
}

TEST_F(SshJumpLost, hosts_are_dropped_while_their_bytes_flow) {
    const Sshd jump;
    start(options_for({&jump}));
    for (int i = 0; i < 6; ++i) begin_hold(through(hop(jump)), "cat /dev/zero");
    io_.restart();
    io_.run_for(1s);  // into the limit of what a command may print, for some of them
    const auto visits = visit_each(through(hop(jump), 1));
    EXPECT_TRUE(visits.front().ok("in\n"))
        << visits.front().problem() << " while " << ended_.size() << " of 6 were dropped";
    run_until([&] { return ended_.size() == 6; });
    for (const auto& ran : ended_) {
        ASSERT_FALSE(ran);
        EXPECT_EQ(ran.error().kind, "output_limit") << ran.error().message;
    }
    EXPECT_TRUE(visit_each(through(hop(jump), 1)).front().ok("in\n"));
    EXPECT_EQ(count_of(jump.log(), "Accepted publickey"), 1);
}

TEST_F(SshJumpLost, everything_is_cancelled_at_once) {
    const Sshd jump;
    SshOptions options = options_for({&jump});
    options.connect_timeout = 60s;
    start(options);
    const BlackHole hole;
    Endpoint silent = hole.endpoint();
    silent.proxy_jump = hop(jump);
    for (int i = 0; i < 3; ++i) begin_hold(through(hop(jump)));
    for (int i = 0; i < 20; ++i) begin_hold(silent);
    io_.restart();
    io_.run_for(1s);
    const auto begin = Clock::now();
    transport_->cancel_all();
    run_until([&] { return ended_.size() == 23; });
    EXPECT_LT(Clock::now() - begin, 10s);
    for (const auto& ran : ended_) {
        ASSERT_FALSE(ran);
        EXPECT_EQ(ran.error().kind, "cancelled") << ran.error().message;
    }
}

TEST_F(SshJumpLost, a_deadline_holds_in_whatever_is_waited_for) {
    const Sshd jump;
    start(options_for({&jump}));
    const BlackHole hole;
    Endpoint silent = hole.endpoint();
    silent.proxy_jump = hop(jump);
    Endpoint behind_silence = through("me@127.0.0.1:" + std::to_string(*hole.endpoint().port));
    const auto begin = Clock::now();
    const auto visits = visit_all(io_, *transport_, {silent, behind_silence}, Script{"echo in", ""}, 1s);
    EXPECT_LT(Clock::now() - begin, 8s);
    ASSERT_FALSE(visits[0].ran);
    EXPECT_EQ(visits[0].ran.error().kind, "connect_timeout") << visits[0].problem();
    ASSERT_FALSE(visits[1].ran);
    EXPECT_EQ(visits[1].ran.error().kind, "jump_failed") << visits[1].problem();
}

TEST_F(SshJumpLost, the_transport_may_go_while_everything_is_under_way) {
    const Sshd jump;
    const int before = open_descriptors();
    {
        boost::asio::io_context io{1};
        const auto context = load_ssh_context(options_for({&jump}));
        ASSERT_TRUE(context);
        for (const auto time : {0ms, 20ms, 60ms, 150ms, 400ms}) {
            auto transport = make_ssh_transport(io, *context);
            const auto visits = std::make_shared<std::vector<Result<RunOutput>>>();
            for (int i = 0; i < 3; ++i)
                boost::asio::co_spawn(io, hold(*transport, through(hop(jump)), "sleep 300", *visits),
                                      [visits](std::exception_ptr) {});
            io.restart();
            io.run_for(time);
            transport->cancel_all();
            io.restart();
            io.run_for(100ms);
            transport.reset();
            io.restart();
            io.run_for(20ms);  // what is left of it must find its way out
        }
        auto transport = make_ssh_transport(io, *context);
        const auto visits = visit_all(io, *transport, through(hop(jump), 2), Script{"echo in", ""});
        for (const Visit& visit : visits) EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
        transport.reset();
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(SshJumpLost, a_connection_may_outlive_its_transport) {
    const Sshd jump;
    const auto connection = open(options_for({&jump}), through(hop(jump)));
    ASSERT_TRUE(connection) << connection.error().message;
    transport_.reset();
    const auto ran = await(io_, (*connection)->run(Script{"echo in", ""}, Limits{in(60s)}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "in\n");
}

}  // namespace
}  // namespace cleanslate::agentless::contract
