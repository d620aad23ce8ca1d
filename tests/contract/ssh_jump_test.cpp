// Hosts behind jump hosts, each a real sshd.
#include <thread>

#include "tests/contract/jump_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

TEST_F(SshJump, a_host_behind_a_jump_host_is_reached) {
    const Sshd jump;
    expect_runs(options_for({&jump}), through(hop(jump)));
    EXPECT_EQ(count_of(jump.log(), "Accepted publickey"), 1);
}

TEST_F(SshJump, hosts_share_a_session_with_their_jump_host) {
    const Sshd jump;
    start(options_for({&jump}));
    for (const Visit& visit : visit_each(through(hop(jump), 12)))
        EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
    EXPECT_EQ(count_of(jump.log(), "Accepted publickey"), 1) << jump.log();
    for (const Visit& visit : visit_each(through(hop(jump), 2)))
        EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
    EXPECT_EQ(count_of(jump.log(), "Accepted publickey"), 1) << "it was not kept";
}

TEST_F(SshJump, several_hops_are_taken_one_after_another) {
    const Sshd first, second, third;
    const std::string hops = hop(first) + "," + hop(second) + "," + hop(third);
    start(options_for({&first, &second, &third}));
    for (const Visit& visit : visit_each(through(hops, 3))) EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
    for (const Sshd* sshd : {&first, &second, &third})
        EXPECT_EQ(count_of(sshd->log(), "Accepted publickey"), 1) << sshd->log();
}

TEST_F(SshJump, megabytes_go_both_ways_to_several_hosts_at_once) {
    const Sshd jump;
    start(options_for({&jump}));
    std::string bytes(4u << 20, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 13);
    const auto visits = visit_all(io_, *transport_, through(hop(jump), 4), Script{"cat", bytes});
    for (const Visit& visit : visits) {
        ASSERT_TRUE(visit.ran) << visit.problem();
        EXPECT_TRUE(visit.ran->out == bytes) << visit.ran->out.size() << " bytes came back";
    }
}

TEST_F(SshJump, a_jump_host_with_an_unknown_key_is_refused_by_its_name) {
    const Sshd jump;
    SshOptions options = options_for({&jump});
    options.known_hosts = {target_->file("known_hosts")};
    start(options);
    const Error error = one_error(visit_each(through(hop(jump), 5)));
    EXPECT_EQ(error.kind, "jump_failed");
    EXPECT_EQ(error.phase, "jump");
    expect_says(error.message, "jump host " + hop(jump));
    EXPECT_LE(count_of(jump.log(), "Connection from"), 1 + 1) << "beside the one that waited for it to start";
}

TEST_F(SshJump, a_login_that_a_jump_host_refused_is_not_tried_again_for_other_hosts) {
    const Sshd jump;
    SshOptions options = options_for({});
    options.known_hosts.push_back(jump.file("known_hosts"));
    start(options);
    const Error error = one_error(visit_each(through(hop(jump), 30)));
    EXPECT_EQ(error.kind, "jump_failed");
    expect_says(error.message, "jump host " + hop(jump));
    one_error(visit_each(through(hop(jump), 3)));
    EXPECT_LE(count_of(jump.log(), "Connection from"), 1 + 1) << jump.log();
}

TEST_F(SshJump, a_jump_host_that_forwards_nothing_is_told_so_once) {
    const Sshd jump("AllowTcpForwarding no");
    start(options_for({&jump}));
    const Error error = one_error(visit_each(through(hop(jump), 3)));
    EXPECT_EQ(error.kind, "jump_failed");
    EXPECT_EQ(error.phase, "jump");
    expect_says(error.message, hop(jump));
    expect_says(error.remedy, "AllowTcpForwarding");
}

TEST_F(SshJump, a_jump_host_that_does_not_answer_is_one_error_for_all) {
    start(options_for({}));
    const Error error = one_error(visit_each(through("me@127.0.0.1:1", 20)));
    EXPECT_EQ(error.kind, "jump_failed");
    expect_says(error.message, "jump host me@127.0.0.1:1");
    expect_says(error.message, "refused");
}

TEST_F(SshJump, a_host_that_the_jump_host_cannot_reach_is_that_hosts_error) {
    const Sshd jump;
    start(options_for({&jump}));
    std::vector<Endpoint> endpoints = through(hop(jump), 3);
    endpoints[1].port = 1;
    endpoints[2].address = "nowhere.invalid";
    const auto visits = visit_each(endpoints);
    EXPECT_TRUE(visits[0].ok("in\n")) << visits[0].problem();
    for (const int i : {1, 2}) {
        ASSERT_FALSE(visits[static_cast<std::size_t>(i)].ran);
        const Error& error = visits[static_cast<std::size_t>(i)].ran.error();
        EXPECT_EQ(error.kind, "connect_failed") << error.message;
        EXPECT_EQ(error.phase, "connect");
        expect_says(error.message, endpoints[static_cast<std::size_t>(i)].address);
        expect_says(error.message, "jump host " + hop(jump));
    }
}

TEST_F(SshJump, hosts_that_never_answer_hold_up_no_other) {
    const Sshd jump;
    SshOptions options = options_for({&jump});
    options.connect_timeout = 10s;
    start(options);
    const BlackHole hole;
    std::vector<Endpoint> endpoints = through(hop(jump), 40);
    Endpoint silent = hole.endpoint();
    silent.proxy_jump = hop(jump);
    for (const std::size_t i : {0, 1, 2, 5, 9, 14, 20, 27, 33, 39}) endpoints[i] = silent;
    for (std::size_t i = 0; const Visit& visit : visit_each(endpoints)) {
        if (endpoints[i++].name == "host") {
            EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
            continue;
        }
        ASSERT_FALSE(visit.ran);
        EXPECT_EQ(visit.ran.error().kind, "connect_timeout") << visit.problem();
        EXPECT_EQ(visit.ran.error().phase, "connect");
        expect_says(visit.ran.error().message, "127.0.0.1");
        expect_says(visit.ran.error().message, "jump host " + hop(jump));
        EXPECT_GE(visit.took, 10s);
    }
}

TEST_F(SshJump, more_silent_hosts_than_there_may_be_sessions_leave_the_others_their_share) {
    const Sshd jump;
    SshOptions options = options_for({&jump});
    options.connect_timeout = 2s;
    start(options);
    const BlackHole hole;
    Endpoint silent = hole.endpoint();
    silent.proxy_jump = hop(jump);
    std::vector<Endpoint> endpoints(40, silent);
    for (std::size_t i = 1; i < endpoints.size(); i += 5) endpoints[i] = through(hop(jump));
    for (std::size_t i = 0; const Visit& visit : visit_each(endpoints)) {
        if (endpoints[i++].name == "host") {
            EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
        } else {
            EXPECT_EQ(visit.problem().find("connect_timeout"), 0u) << visit.problem();
        }
    }
}

void visit_in_a_shard(const std::shared_ptr<SshContext>& context, const std::vector<Endpoint>& endpoints,
                      std::vector<Visit>& visits) {
    boost::asio::io_context io{1};
    const auto transport = make_ssh_transport(io, context);
    visits = visit_all(io, *transport, endpoints, Script{"echo in", ""});
}

class SshJumpShards : public SshJump {
  protected:
    std::vector<Visit> visit_in_shards(const SshOptions& options, const Sshd& jump, std::size_t shards) {
        const auto context = load_ssh_context(options);
        EXPECT_TRUE(context) << context.error().message;
        std::vector<std::vector<Visit>> of_shards(shards);
        std::vector<std::thread> threads;
        for (auto& visits : of_shards)
            threads.emplace_back([&] { visit_in_a_shard(*context, through(hop(jump), 5), visits); });
        for (std::thread& thread : threads) thread.join();
        std::vector<Visit> visits;
        for (const auto& some : of_shards) visits.insert(visits.end(), some.begin(), some.end());
        return visits;
    }
};

TEST_F(SshJumpShards, each_shard_has_a_session_of_its_own) {
    const Sshd jump;
    for (const Visit& visit : visit_in_shards(options_for({&jump}), jump, 3))
        EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
    EXPECT_EQ(count_of(jump.log(), "Accepted publickey"), 3) << jump.log();
}

TEST_F(SshJumpShards, one_refused_login_is_enough_for_all_of_them) {
    const Sshd jump;
    SshOptions options = options_for({});
    options.known_hosts.push_back(jump.file("known_hosts"));
    const Error error = one_error(visit_in_shards(options, jump, 4));
    EXPECT_EQ(error.kind, "jump_failed");
    EXPECT_LE(count_of(jump.log(), "Connection from"), 1 + 1) << jump.log();
}

}  // namespace
}  // namespace cleanslate::agentless::contract
