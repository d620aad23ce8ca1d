#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <functional>

#include "tests/contract/fake_server.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

class SshAgent : public SshdTest {};

TEST_F(SshAgent, the_agent_signs_with_its_keys) {
    const Agent agent;
    agent.add(sshd_->make_key("stranger", "-t ecdsa"));
    agent.add(options_.identity_files.front());
    options_.agent_socket = agent.socket();
    options_.identity_files.clear();
    expect_runs(options_, endpoint_);
}

TEST_F(SshAgent, the_agent_signs_for_an_encrypted_key_and_for_a_public_one) {
    const Agent agent;
    const std::string key = sshd_->make_key("secret", "-t ed25519");
    sshd_->authorize("secret");
    agent.add(key);
    agent.add(sshd_->make_key("stranger", "-t ed25519"));
    shell("ssh-keygen -q -p -P '' -N secret -f " + key);
    options_.agent_socket = agent.socket();
    for (const std::string& file : {key, key + ".pub"}) {
        SCOPED_TRACE(file);
        options_.identity_files = {file};
        expect_runs(options_, endpoint_);
    }
}

TEST_F(SshAgent, with_a_named_key_the_agents_other_keys_are_not_offered) {
    const Agent agent;
    agent.add(options_.identity_files.front());
    options_.agent_socket = agent.socket();
    options_.identity_files = {sshd_->make_key("stranger", "-t ed25519")};
    expect_refused(options_, endpoint_, "auth_failed", "auth");
}

TEST_F(SshAgent, an_agent_that_is_gone_costs_its_keys_only) {
    options_.agent_socket = sshd_->file("no-agent");
    expect_runs(options_, endpoint_);
    options_.identity_files.clear();
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "the agent is not there");
}

TEST_F(SshAgent, an_agent_that_hangs_costs_its_time_only) {
    const FakeServer hanging(sshd_->file("hanging"), [](int peer) { wait_for_close(peer); });
    options_.agent_socket = sshd_->file("hanging");
    options_.connect_timeout = 2000ms;
    expect_runs(options_, endpoint_);  // a key of our own needs no agent

    options_.identity_files.clear();
    const auto begun = Clock::now();
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "the agent does not answer");
    EXPECT_LT(Clock::now() - begun, 20s);
}

TEST_F(SshAgent, an_agent_that_hangs_up_or_talks_nonsense_costs_its_keys_only) {
    const std::pair<std::string, std::string> answers[] = {
        {"", "has hung up"},
        {std::string("\xff\xff\xff\xff", 4), "no possible length"},
        {std::string("\0\0\0\0", 4), "no possible length"},
        {std::string("\0\0\0\1\5", 5), "did not list its keys"},
        {std::string("\0\0\0\5\x0c\0\0\0\2", 9), "cut short"},
        {std::string("\0\0\0\5\x0c\x7f\0\0\0", 9), "too many keys"},
    };
    options_.identity_files.clear();
    for (const auto& [answer, said] : answers) {
        SCOPED_TRACE(said);
        const std::string path = sshd_->file("nonsense");
        unlink(path.c_str());
        const FakeServer nonsense(path, [&answer](int peer) {
            std::string request;
            if (receive_message(peer, request)) send_all(peer, answer);
        });
        options_.agent_socket = path;
        const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
        expect_says(error.message, said);
    }
}

// Between libssh2 and a real agent stands one that lets the list pass and then is slow, or refuses.
class AgentInBetween {
  public:
    AgentInBetween(const std::string& path, const std::string& real, std::function<bool()> before_signing)
        : server_(path, [real, before_signing, lists = lists_](int peer) {
              const int agent = connect_unix(real);
              std::string request;
              while (receive_message(peer, request)) {
                  if (request[4] == 11) ++*lists;
                  if (request[4] == 13 && !before_signing()) {
                      send_all(peer, std::string("\0\0\0\1\5", 5));
                      continue;
                  }
                  send_all(agent, request);
                  std::string answer;
                  if (!receive_message(agent, answer)) break;
                  send_all(peer, answer);
              }
              close(agent);
          }) {}

    int lists() const { return *lists_; }

  private:
    std::shared_ptr<std::atomic<int>> lists_ = std::make_shared<std::atomic<int>>(0);  // asked for
    FakeServer server_;
};

TEST_F(SshAgent, libssh2_waits_for_a_slow_signature) {
    const Agent agent;
    agent.add(options_.identity_files.front());
    std::atomic<int> signatures = 0;
    const AgentInBetween slow(sshd_->file("slow"), agent.socket(), [&signatures] {
        ++signatures;
        poll(nullptr, 0, 300);  // so that libssh2 has to be asked again
        return true;
    });
    options_.agent_socket = sshd_->file("slow");
    options_.identity_files.clear();
    expect_runs(options_, endpoint_);
    EXPECT_EQ(signatures, 1) << "the data to sign is asked for once";
}

TEST_F(SshAgent, an_agent_that_refuses_to_sign_is_said) {
    const Agent agent;
    agent.add(options_.identity_files.front());
    const AgentInBetween refusing(sshd_->file("refusing"), agent.socket(), [] { return false; });
    options_.agent_socket = sshd_->file("refusing");
    options_.identity_files.clear();
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "the agent refused to sign");
}

TEST_F(SshAgent, an_agent_that_hangs_while_signing_ends_with_the_login) {
    const Agent agent;
    agent.add(options_.identity_files.front());
    const AgentInBetween hanging(sshd_->file("hanging"), agent.socket(), [] {
        poll(nullptr, 0, 3000);
        return true;
    });
    options_.agent_socket = sshd_->file("hanging");
    options_.identity_files.clear();
    options_.connect_timeout = 1500ms;
    const Error error = expect_refused(options_, endpoint_, "auth_timeout", "auth");
    expect_says(error.message, "the agent does not answer");
}

TEST_F(SshAgent, many_logins_at_once_through_one_agent) {
    const Agent agent;
    agent.add(options_.identity_files.front());
    options_.agent_socket = agent.socket();
    options_.identity_files.clear();
    options_.connect_timeout = 60s;
    auto context = load_ssh_context(options_);
    ASSERT_TRUE(context);
    transport_ = make_ssh_transport(io_, *context);
    std::vector<std::unique_ptr<Connection>> connections;
    for (int i = 0; i < 32; ++i) {
        boost::asio::co_spawn(io_, transport_->open(endpoint_, in(60s)),
                              [&connections](std::exception_ptr, Result<std::unique_ptr<Connection>> opened) {
                                  ASSERT_TRUE(opened) << opened.error().message;
                                  connections.push_back(std::move(*opened));
                              });
    }
    io_.run();
    EXPECT_EQ(connections.size(), 32u);
}

TEST_F(SshAgent, many_logins_ask_once_which_keys_it_holds) {
    const Agent agent;
    agent.add(options_.identity_files.front());
    const AgentInBetween counting(sshd_->file("counting"), agent.socket(), [] { return true; });
    options_.agent_socket = sshd_->file("counting");
    options_.identity_files.clear();
    options_.connect_timeout = 60s;
    auto context = load_ssh_context(options_);
    ASSERT_TRUE(context);
    transport_ = make_ssh_transport(io_, *context);
    int in_count = 0;
    const auto begun = Clock::now();
    for (int i = 0; i < 8; ++i) {
        boost::asio::co_spawn(io_, transport_->open(endpoint_, in(60s)),
                              [&in_count](std::exception_ptr, Result<std::unique_ptr<Connection>> opened) {
                                  ASSERT_TRUE(opened) << opened.error().message;
                                  ++in_count;
                              });
    }
    io_.run();
    EXPECT_EQ(in_count, 8);
    EXPECT_LE(counting.lists(), 1 + (Clock::now() - begun) / 5s) << "once, and again where that is long ago";
}

TEST_F(SshAgent, an_agent_that_hangs_costs_its_time_at_one_login) {
    const FakeServer hanging(sshd_->file("hanging"), [](int peer) { wait_for_close(peer); });
    options_.agent_socket = sshd_->file("hanging");
    options_.connect_timeout = 2000ms;
    options_.identity_files.clear();
    expect_refused(options_, endpoint_, "auth_failed", "auth");
    const auto again = await(io_, transport_->open(endpoint_, in(60s)));
    ASSERT_FALSE(again);
    expect_says(again.error().message, "the agent does not answer");
    EXPECT_EQ(hanging.connections(), 1) << "the second login did not ask it";
}

}  // namespace
}  // namespace cleanslate::agentless::contract
