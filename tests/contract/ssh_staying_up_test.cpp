// What keeps a sweep going: several addresses, too few descriptors, signs of life, not too many logins at
// once.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <filesystem>

#include "agentless/ssh/login_turns.hpp"
#include "agentless/ssh/tcp.hpp"
#include "tests/contract/fake_server.hpp"
#include "tests/contract/jump_fixture.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::make_address;
using boost::asio::ip::tcp;

tcp::endpoint where_is(const BlackHole& hole) {
    return {make_address(hole.endpoint().address), *hole.endpoint().port};
}

tcp::endpoint nobody() {
    boost::asio::io_context io;
    tcp::acceptor acceptor(io, tcp::endpoint(make_address("127.0.0.1"), 0));
    return acceptor.local_endpoint();  // closed again
}

class SshStayingUp : public SshTest {
  protected:
    Result<std::shared_ptr<ssh::Link>> connect(const std::vector<tcp::endpoint>& addresses, Milliseconds time,
                                               Milliseconds shortage = ssh::longest_shortage) {
        return await(io_,
                     ssh::connect_any(io_, cancellation_, addresses, time, in(60s), std::nullopt, shortage));
    }
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
};

TEST_F(SshStayingUp, an_address_that_swallows_everything_does_not_keep_the_next_from_being_tried) {
    FakeServer server([](int peer) { wait_for_close(peer); });
    const BlackHole hole;
    const tcp::endpoint good(make_address("127.0.0.1"), *server.endpoint().port);
    const auto began = Clock::now();
    const auto link = connect({where_is(hole), good}, 60s);
    ASSERT_TRUE(link) << link.error().message;
    EXPECT_LT(Clock::now() - began, 30s) << "it waited for the first";
    (*link)->close();
}

TEST_F(SshStayingUp, addresses_that_refuse_are_gone_through_at_once_to_the_last) {
    FakeServer server([](int peer) { wait_for_close(peer); });
    const tcp::endpoint good(make_address("127.0.0.1"), *server.endpoint().port);
    std::vector<tcp::endpoint> addresses(20, nobody());
    addresses.push_back(good);
    const auto link = connect(addresses, 60s);
    ASSERT_TRUE(link) << link.error().message;
    (*link)->close();
}

TEST_F(SshStayingUp, all_addresses_that_refuse_are_one_refusal_that_names_an_address) {
    const auto where = nobody();
    const auto link = connect({where, where}, 60s);
    ASSERT_FALSE(link);
    EXPECT_EQ(link.error().kind, "connect_refused");
    expect_says(link.error().message, "127.0.0.1:" + std::to_string(where.port()));
}

TEST_F(SshStayingUp, addresses_that_swallow_everything_end_in_time) {
    const BlackHole first, second;
    const auto link = connect({where_is(first), where_is(second)}, 700ms);
    ASSERT_FALSE(link);
    EXPECT_EQ(link.error().kind, "connect_timeout");
}

// Sets the limit back to what it was.
class FewDescriptors {
  public:
    FewDescriptors() {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        const int next = ::dup(0);
        none.rlim_cur = static_cast<rlim_t>(next);
        ::close(next);
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~FewDescriptors() { give_back(); }
    void give_back() { setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

TEST_F(SshStayingUp, a_descriptor_is_waited_for_and_fails_no_host) {
    FakeServer server([](int peer) { wait_for_close(peer); });
    const tcp::endpoint good(make_address("127.0.0.1"), *server.endpoint().port);
    boost::asio::steady_timer later(io_, 300ms);
    std::optional<Result<std::shared_ptr<ssh::Link>>> link;
    const auto cancellation = cancellation_;
    auto task = [](auto& io, auto cancel, tcp::endpoint where, auto& out) -> Awaitable<void> {
        const std::vector<tcp::endpoint> addresses(1, where);
        // Longer than its own time for connecting: the wait is not the host's to pay for.
        out = co_await ssh::connect_any(io, cancel, addresses, 100ms, in(60s));
    };
    FewDescriptors few;
    later.async_wait([&](auto) {
        EXPECT_FALSE(link) << "it was connected without a descriptor";
        few.give_back();
    });
    boost::asio::co_spawn(io_, task(io_, cancellation, good, link), boost::asio::detached);
    io_.run();
    ASSERT_TRUE(link && *link) << (link ? (*link).error().message : "");
    (**link)->close();
}

TEST_F(SshStayingUp, a_descriptor_that_never_comes_is_not_waited_for_without_end) {
    FakeServer server([](int peer) { wait_for_close(peer); });
    const tcp::endpoint good(make_address("127.0.0.1"), *server.endpoint().port);
    const boost::asio::steady_timer first(io_);  // what io_ needs itself is there before
    const FewDescriptors few;
    const auto began = Clock::now();
    const auto link = connect({good}, 50s, 300ms);
    ASSERT_FALSE(link);
    EXPECT_EQ(link.error().kind, "connect_failed");
    expect_says(link.error().message, "no place for another connection");
    EXPECT_GE(Clock::now() - began, 300ms);
    EXPECT_LT(Clock::now() - began, 30s);
}

// The kernel sends a SYN again by itself: another attempt would only make a dead host cost twice as much.
TEST_F(SshStayingUp, a_connect_that_timed_out_is_not_tried_again) {
    const Sshd sshd;
    const BlackHole hole;
    SshOptions options = sshd.options();
    options.connect_timeout = 1s;
    const auto began = Clock::now();
    const auto connection = open(options, hole.endpoint());
    const auto took = Clock::now() - began;
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().kind, "connect_timeout");
    EXPECT_GE(took, 1s);
    EXPECT_LT(took, 2500ms) << "two attempts with the pause between them take longer, and three 3.6 s";
}

TEST_F(SshStayingUp, a_host_that_falls_silent_is_given_up_long_before_the_deadline) {
    const Sshd sshd;
    std::atomic<bool> silent = false;
    // Carries bytes until it is told to swallow them, and keeps the connection open.
    FakeServer between([&](int peer) { relay(peer, sshd.endpoint(), &silent); });
    SshOptions options = sshd.options();
    write_file(sshd.file("alive"), "ServerAliveInterval 1\nServerAliveCountMax 1\n");
    options.config_file = sshd.file("alive");
    Endpoint endpoint = sshd.endpoint();
    options.host_keys = HostKeyPolicy::off;
    endpoint.address = between.endpoint().address;
    endpoint.port = between.endpoint().port;
    const auto connection = open(options, endpoint);
    ASSERT_TRUE(connection) << connection.error().message;
    silent = true;
    const auto began = Clock::now();
    const Script script{"echo in", ""};
    const auto ran = await(io_, (*connection)->run(script, Limits{in(120s)}));
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "connection_lost");
    expect_says(ran.error().message, "no sign of life");
    EXPECT_LT(Clock::now() - began, 100s);
}

TEST_F(SshStayingUp, a_host_that_answers_signs_of_life_may_take_its_time) {
    const Sshd sshd;
    SshOptions options = sshd.options();
    write_file(sshd.file("alive"), "ServerAliveInterval 1\nServerAliveCountMax 1\n");
    options.config_file = sshd.file("alive");
    const auto connection = open(options, sshd.endpoint());
    ASSERT_TRUE(connection) << connection.error().message;
    const Script script{"sleep 8; echo in", ""};
    const auto ran = await(io_, (*connection)->run(script, Limits{in(120s)}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "in\n");
}

TEST_F(SshStayingUp, a_server_sees_a_few_logins_at_a_time_and_every_host_gets_in) {
    // Drops whoever comes while so many have not logged in yet.
    const Sshd sshd("MaxStartups " + std::to_string(ssh::LoginTurns::at_a_time + 1) +
                    ":100:" + std::to_string(ssh::LoginTurns::at_a_time + 1));
    const SshOptions options = sshd.options();
    auto context = load_ssh_context(options);
    ASSERT_TRUE(context) << context.error().message;
    transport_ = make_ssh_transport(io_, *context);
    const std::vector<Endpoint> hosts(30, sshd.endpoint());
    for (const Visit& visit : visit_all(io_, *transport_, hosts, Script{"echo in", ""}))
        EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
    EXPECT_EQ(sshd.log().find("drop connection"), std::string::npos) << "it was asked by too many at a time";
}

// A shard that ends, or is cut, takes its coroutines with it: its place in the queue goes too, and so does
// the one that it was just given.
TEST(LoginTurns, of_a_shard_that_is_gone_are_the_others_to_have) {
    ssh::LoginTurns turns;
    const std::string server = "gpu01:22";
    const auto cancellation = std::make_shared<Cancellation>();
    boost::asio::io_context io{1};
    const auto take = [&](boost::asio::io_context& where) {
        return turns.take(where, cancellation, server, in(60s));
    };
    std::vector<std::optional<ssh::LoginTurns::Turn>> held;
    for (int i = 0; i < ssh::LoginTurns::at_a_time; ++i) held.push_back(await(io, take(io)));
    {
        boost::asio::io_context gone{1};
        for (int i = 0; i < 2; ++i) boost::asio::co_spawn(gone, take(gone), boost::asio::detached);
        gone.poll();
        held.pop_back();  // the first of the two is called, and never hears of it
    }
    held.pop_back();
    for (int i = 0; i < 2; ++i) held.push_back(await(io, take(io)));
    for (const auto& turn : held) EXPECT_TRUE(turn);
}

}  // namespace
}  // namespace cleanslate::agentless::contract
