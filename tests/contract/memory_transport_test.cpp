#include "agentless/memory_transport.hpp"

#include "tests/contract/contract.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

class MemoryTransportTest : public testing::Test {
  protected:
    Result<std::unique_ptr<Connection>> open(const std::string& name, std::chrono::milliseconds time = 60s) {
        transport_ = make_memory_transport(io_, fleet_);
        const Endpoint endpoint{.name = name, .address = {}, .user = {}, .identity_file = {}};
        return await(io_, transport_->open(endpoint, in(time)));
    }
    MemoryHost& host() { return (*fleet_)["gpu01"]; }

    std::shared_ptr<MemoryFleet> fleet_ = std::make_shared<MemoryFleet>();
    boost::asio::io_context io_{1};
    std::unique_ptr<Transport> transport_;
};

TEST_F(MemoryTransportTest, a_host_that_is_not_in_the_fleet_refuses) {
    const auto opened = open("gpu02");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, "connect_refused");
    EXPECT_EQ(opened.error().phase, "connect");
}

TEST_F(MemoryTransportTest, an_open_fails_as_it_was_told_to) {
    host().open_error = Error{"host_key_changed", "host-key", "the key has changed", ""};
    const auto opened = open("gpu01");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, "host_key_changed");
    EXPECT_EQ(opened.error().phase, "host-key");
}

TEST_F(MemoryTransportTest, an_open_that_hangs_runs_into_its_deadline) {
    host().open_hangs = true;
    const auto opened = open("gpu01", 50ms);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, "connect_timeout");
}

TEST_F(MemoryTransportTest, delays_are_kept) {
    host().open_delay = 40ms;
    host().reply = [](const Script&) {
        MemoryReply late;
        late.delay = 40ms;
        return late;
    };
    const auto begun = Clock::now();
    auto connection = open("gpu01");
    ASSERT_TRUE(connection);
    const auto ran = await(io_, (*connection)->run(Script{}, Limits{in(60s)}));
    EXPECT_TRUE(ran);
    EXPECT_GE(Clock::now() - begun, 80ms);
}

TEST_F(MemoryTransportTest, a_host_that_closes_loses_the_connection) {
    host().reply = [](const Script&) {
        MemoryReply closing;
        closing.end = MemoryReply::End::close;
        return closing;
    };
    auto connection = open("gpu01");
    ASSERT_TRUE(connection);
    const auto ran = await(io_, (*connection)->run(Script{}, Limits{in(60s)}));
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "connection_lost");
}

TEST_F(MemoryTransportTest, the_reply_is_a_function_of_the_script) {
    host().reply = [](const Script& script) {
        MemoryReply echo;
        echo.out = script.command + "|" + script.input;
        return echo;
    };
    auto connection = open("gpu01");
    ASSERT_TRUE(connection);
    const Script script{"cat", "text"};
    const auto ran = await(io_, (*connection)->run(script, Limits{in(60s)}));
    ASSERT_TRUE(ran);
    EXPECT_EQ(ran->out, "cat|text");
}

}  // namespace
}  // namespace cleanslate::agentless::contract
