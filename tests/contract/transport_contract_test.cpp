#include <sys/wait.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/contract/contract.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;
using End = MemoryReply::End;

constexpr auto ample = 60s;          // never reached where the transport works
constexpr auto short_while = 300ms;  // a deadline that is meant to be reached

MemoryReply says(std::string out, std::string err = {}, std::optional<int> status = 0) {
    MemoryReply reply;
    reply.out = std::move(out);
    reply.err = std::move(err);
    reply.exit_status = status;
    return reply;
}

MemoryReply ends(End end, std::string out = {}) {
    MemoryReply reply = says(std::move(out));
    reply.end = end;
    return reply;
}

class Contract : public testing::TestWithParam<std::shared_ptr<Flavour>> {
  protected:
    void SetUp() override {
        const std::string why = GetParam()->unavailable();
        if (!why.empty()) GTEST_SKIP() << why;
        transport_ = GetParam()->make(io_);
    }
    void TearDown() override {
        // Nothing may be left on the shard once connection and transport are gone: run() then returns at
        // once.
        connection_.reset();
        transport_.reset();
        io_.restart();
        const auto begun = Clock::now();
        io_.run_for(5s);
        EXPECT_LT(Clock::now() - begun, 4s) << "something was left waiting on the shard";
    }

    void open() {
        auto opened = await(io_, transport_->open(endpoint_, in(ample)));
        ASSERT_TRUE(opened) << opened.error().kind << ": " << opened.error().message;
        connection_ = std::move(*opened);
    }
    Result<RunOutput> run(const Script& script, MemoryReply memory, std::chrono::milliseconds time = ample,
                          std::size_t max_bytes = 32u << 20) {
        GetParam()->pretend(std::move(memory));
        return await(io_, connection_->run(script, Limits{in(time), max_bytes}));
    }
    void expect_dead() {
        const auto after = run({"/bin/sh -s", "echo again"}, says("again\n"));
        ASSERT_FALSE(after);
        EXPECT_EQ(after.error().kind, "connection_lost");
    }

    boost::asio::io_context io_{1};
    Endpoint endpoint_ = GetParam()->endpoint();
    std::unique_ptr<Transport> transport_;
    std::unique_ptr<Connection> connection_;
};

TEST_P(Contract, gives_output_and_exit_status) {
    open();
    const auto ran = run({"/bin/sh -s", "echo hello\nexit 3\n"}, says("hello\n", "", 3));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "hello\n");
    EXPECT_EQ(ran->err, "");
    EXPECT_EQ(ran->exit_status, 3);
    EXPECT_EQ(ran->exit_signal, "");
}

TEST_P(Contract, keeps_stderr_apart) {
    open();
    const auto ran = run({"/bin/sh -s", "echo out; echo err >&2"}, says("out\n", "err\n"));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "out\n");
    EXPECT_EQ(ran->err, "err\n");
    EXPECT_EQ(ran->exit_status, 0);
}

TEST_P(Contract, ends_without_any_output) {
    open();
    const auto ran = run({"/bin/sh -s", "exit 7"}, says("", "", 7));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "");
    EXPECT_EQ(ran->exit_status, 7);
}

TEST_P(Contract, runs_a_command_without_input) {
    open();
    const auto ran = run({"cat; echo end", ""}, says("end\n"));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "end\n");
}

TEST_P(Contract, carries_every_byte_value_both_ways) {
    std::string bytes;
    for (int i = 0; i < 4096; ++i) bytes.push_back(static_cast<char>(i * 7 + i / 256));
    open();
    const auto ran = run({"cat", bytes}, says(bytes));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_TRUE(ran->out == bytes);
}

TEST_P(Contract, echoes_4_MB_of_input) {
    std::string input;
    for (int i = 0; input.size() < (4u << 20); ++i) input += std::to_string(i) + "\n";
    open();
    const auto ran = run({"cat", input}, says(input));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_TRUE(ran->out == input) << ran->out.size() << " of " << input.size() << " bytes came back";
    EXPECT_EQ(ran->exit_status, 0);
}

TEST_P(Contract, drains_5_MB_on_stderr_alone) {
    open();
    const auto ran =
        run({"/bin/sh -s", "head -c 5000000 /dev/zero >&2"}, says("", std::string(5000000, '\0')));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->err.size(), 5000000u);
    EXPECT_EQ(ran->out.size(), 0u);
}

TEST_P(Contract, drains_both_streams_at_once) {
    open();
    const auto ran = run({"/bin/sh -s", "head -c 3000000 /dev/zero >&2 & head -c 4000000 /dev/zero; wait"},
                         says(std::string(4000000, '\0'), std::string(3000000, '\0')));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->err.size(), 3000000u);
    EXPECT_EQ(ran->out.size(), 4000000u);
}

TEST_P(Contract, does_not_mind_a_command_that_leaves_its_input_unread) {
    open();
    const auto ran = run({"echo done; exit 4", std::string(3u << 20, 'x')}, says("done\n", "", 4));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "done\n");
    EXPECT_EQ(ran->exit_status, 4);
}

TEST_P(Contract, names_the_signal_that_ended_the_command) {
    open();
    MemoryReply killed = says("before\n");
    killed.exit_signal = "KILL";
    const auto ran = run({"echo before; kill -KILL $$", ""}, killed);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "before\n");
    EXPECT_EQ(ran->exit_signal, "KILL");
    EXPECT_FALSE(ran->exit_status) << "a signal leaves no exit status";
}

TEST_P(Contract, two_runs_follow_each_other_on_one_connection) {
    open();
    const auto first = run({"/bin/sh -s", "echo one"}, says("one\n"));
    const auto second = run({"/bin/sh -s", "echo two; exit 2"}, says("two\n", "", 2));
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->out, "one\n");
    EXPECT_EQ(second->out, "two\n");
    EXPECT_EQ(second->exit_status, 2);
}

TEST_P(Contract, a_deadline_ends_the_run_and_the_connection) {
    open();
    const auto begun = Clock::now();
    const auto ran =
        run({"/bin/sh -s", "echo partial; exec sleep 1000"}, ends(End::hang, "partial\n"), short_while);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "timeout");
    EXPECT_GE(Clock::now() - begun, short_while);
    EXPECT_LT(Clock::now() - begun, 10s);
    expect_dead();
}

TEST_P(Contract, a_deadline_holds_against_a_host_that_never_stops_printing) {
    open();
    const auto ran = run({"/bin/sh -s", "while :; do echo y; done"}, ends(End::hang), short_while, 1u << 30);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "timeout");
    expect_dead();
}

TEST_P(Contract, a_deadline_in_the_past_runs_nothing_to_its_end) {
    open();
    const auto ran = run({"/bin/sh -s", "sleep 1000"}, ends(End::hang), -1s);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "timeout");
}

TEST_P(Contract, more_output_than_allowed_ends_the_run_and_the_connection) {
    open();
    const auto ran =
        run({"/bin/sh -s", "head -c 100000 /dev/zero; head -c 100000 /dev/zero >&2; exec sleep 1000"},
            says(std::string(100000, '\0'), std::string(100000, '\0')), ample, 150000);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "output_limit");
    EXPECT_NE(ran.error().message.find("150000"), std::string::npos) << ran.error().message;
    expect_dead();
}

TEST_P(Contract, exactly_as_much_output_as_allowed_is_fine) {
    open();
    const auto ran =
        run({"/bin/sh -s", "head -c 150000 /dev/zero"}, says(std::string(150000, '\0')), ample, 150000);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out.size(), 150000u);
}

Awaitable<Result<RunOutput>> run_on(Connection& connection, const Script& script, Limits limits) {
    co_return co_await connection.run(script, limits);
}

TEST_P(Contract, cancel_all_ends_a_run_under_way_and_every_later_call) {
    open();
    GetParam()->pretend(ends(End::hang));
    boost::asio::steady_timer soon(io_, 100ms);
    soon.async_wait([&](auto) { transport_->cancel_all(); });
    const Script script{"/bin/sh -s", "exec sleep 1000"};
    const auto ran = await(io_, run_on(*connection_, script, Limits{in(ample)}));
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "cancelled");

    const auto later = run(script, says(""));
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().kind, "cancelled");
    const auto opened = await(io_, transport_->open(endpoint_, in(ample)));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, "cancelled");
}

TEST_P(Contract, a_connection_outlives_its_transport) {
    open();
    transport_.reset();
    const auto ran = run({"/bin/sh -s", "echo still"}, says("still\n"));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "still\n");
}

TEST_P(Contract, leaves_no_descriptor_behind) {
    open();
    (void)run({"/bin/sh -s", "echo warm-up"}, says("warm-up\n"));
    connection_.reset();
    io_.restart();
    io_.poll();
    const int before = open_descriptors();
    for (int i = 0; i < 20; ++i) {
        open();
        (void)run({"/bin/sh -s", "echo fine"}, says("fine\n"));
        if (i % 2 == 0) (void)run({"/bin/sh -s", "exec sleep 1000"}, ends(End::hang), 10ms);
        connection_.reset();
    }
    io_.restart();
    io_.poll();
    EXPECT_EQ(open_descriptors(), before);
}

INSTANTIATE_TEST_SUITE_P(Every, Contract,
                         testing::Values(std::shared_ptr<Flavour>(memory_flavour()),
                                         std::shared_ptr<Flavour>(local_flavour()),
                                         std::shared_ptr<Flavour>(ssh_flavour())),
                         [](const auto& flavour) { return flavour.param->name(); });

}  // namespace
}  // namespace cleanslate::agentless::contract
