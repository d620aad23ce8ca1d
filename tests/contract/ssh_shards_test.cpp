// Several shards, each with its thread, share one context.
#include <thread>

#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

constexpr int shards = 4;
constexpr int hosts_per_shard = 6;

struct Tally {
    int good = 0;
    std::string problem;
};

Awaitable<void> visit(Transport& transport, const Endpoint& endpoint, Tally& tally) {
    auto connection = co_await transport.open(endpoint, in(60s));
    if (!connection) {
        tally.problem = connection.error().message;
        co_return;
    }
    const Script script{"/bin/sh -s", "echo $$"};
    const Limits limits{in(60s)};
    const auto ran = co_await (*connection)->run(script, limits);
    if (ran) ++tally.good;
}

void run_shard(const std::shared_ptr<SshContext>& context, const Endpoint& endpoint, Tally& tally) {
    boost::asio::io_context io{1};
    const auto transport = make_ssh_transport(io, context);
    for (int i = 0; i < hosts_per_shard; ++i) {
        boost::asio::co_spawn(io, visit(*transport, endpoint, tally), [](std::exception_ptr thrown) {
            if (thrown) std::rethrow_exception(thrown);
        });
    }
    io.run();
}

TEST_F(SshTest, shards_share_keys_known_hosts_and_what_is_accepted) {
    const Sshd sshd;
    SshOptions options = sshd.options();
    options.known_hosts = {sshd.file("accepted")};
    options.host_keys = HostKeyPolicy::accept_new;
    options.connect_timeout = 60s;
    const auto context = load_ssh_context(options);
    ASSERT_TRUE(context) << context.error().message;
    const Endpoint endpoint = sshd.endpoint();
    std::vector<Tally> tallies(shards);
    std::vector<std::thread> threads;
    for (Tally& tally : tallies) threads.emplace_back([&] { run_shard(*context, endpoint, tally); });
    for (std::thread& thread : threads) thread.join();
    for (const Tally& tally : tallies) EXPECT_EQ(tally.good, hosts_per_shard) << tally.problem;
    EXPECT_TRUE(keep_host_keys(**context).empty());
    const std::string accepted = read_text(sshd.file("accepted"));
    EXPECT_EQ(std::count(accepted.begin(), accepted.end(), '\n'), 1) << accepted;
}

TEST_F(SshTest, shards_resolve_names_at_the_same_time) {
    SshOptions options;
    options.known_hosts = {"/nonexistent/known_hosts"};
    options.home = "/nonexistent";
    const auto context = load_ssh_context(options);
    ASSERT_TRUE(context) << context.error().message;
    Endpoint nobody{.name = "nobody", .address = "localhost", .port = 1, .user = "root", .identity_file = {}};
    std::vector<Tally> tallies(shards);
    std::vector<std::thread> threads;
    for (Tally& tally : tallies) threads.emplace_back([&] { run_shard(*context, nobody, tally); });
    for (std::thread& thread : threads) thread.join();
    for (const Tally& tally : tallies)
        EXPECT_NE(tally.problem.find("refused"), std::string::npos) << tally.problem;
}

}  // namespace
}  // namespace cleanslate::agentless::contract
