#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <functional>

#include "agentless/ssh/library.hpp"
#include "tests/contract/fake_server.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

class SshLogin : public SshTest {
  protected:
    void SetUp() override {
        SshTest::SetUp();
        if (IsSkipped()) return;
        sshd_ = std::make_unique<Sshd>();
        options_ = sshd_->options();
        endpoint_ = sshd_->endpoint();
    }
    std::unique_ptr<Sshd> sshd_;
    SshOptions options_;
    Endpoint endpoint_;
};

TEST_F(SshLogin, each_kind_of_key_lets_one_in) {
    const std::pair<const char*, const char*> kinds[] = {
        {"ed", "-t ed25519"},
        {"ec256", "-t ecdsa -b 256"},
        {"ec384", "-t ecdsa -b 384"},
        {"ec521", "-t ecdsa -b 521"},
        {"pem256", "-t ecdsa -b 256 -m PEM"},
        {"pem521", "-t ecdsa -b 521 -m PEM"},
        {"pk8", "-t ecdsa -m PKCS8"},
    };
    for (const auto& [name, arguments] : kinds) {
        SCOPED_TRACE(arguments);
        options_.identity_files = {sshd_->make_key(name, arguments)};
        sshd_->authorize(name);
        expect_runs(options_, endpoint_);
    }
}

TEST_F(SshLogin, rsa_lets_one_in_or_is_refused_with_the_reason) {
    const std::pair<const char*, const char*> kinds[] = {
        {"rsa", "-t rsa -b 2048"},
        {"rsapem", "-t rsa -b 2048 -m PEM"},
        {"rsapk8", "-t rsa -b 2048 -m PKCS8"},
    };
    for (const auto& [name, arguments] : kinds) {
        SCOPED_TRACE(arguments);
        options_.identity_files = {sshd_->make_key(name, arguments)};
        sshd_->authorize(name);
        if (ssh::rsa_works()) {
            expect_runs(options_, endpoint_);
            continue;
        }
        const auto context = load_ssh_context(options_);
        ASSERT_FALSE(context);
        EXPECT_EQ(context.error().kind, "identity");
        expect_says(context.error().message, "RSA keys need libssh2 1.11");
        expect_says(context.error().remedy, "ed25519");
    }
}

TEST_F(SshLogin, keys_are_tried_one_after_another) {
    options_.identity_files.insert(options_.identity_files.begin(),
                                   sshd_->make_key("stranger", "-t ed25519"));
    expect_runs(options_, endpoint_);
}

TEST_F(SshLogin, a_refused_key_is_named_and_not_tried_again) {
    options_.identity_files = {sshd_->make_key("stranger", "-t ed25519")};
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, options_.identity_files.front());
    expect_says(error.message, "SHA256:");
    expect_says(error.remedy, "authorized_keys");
    const std::string log = sshd_->log();
    EXPECT_EQ(log.find("Failed publickey"), log.rfind("Failed publickey")) << log;
}

TEST_F(SshLogin, not_more_than_five_keys_are_offered) {
    options_.identity_files.clear();
    for (int i = 0; i < 7; ++i) {
        options_.identity_files.push_back(sshd_->make_key("stranger" + std::to_string(i), "-t ed25519"));
    }
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "stranger4");
    EXPECT_EQ(error.message.find("stranger5"), std::string::npos) << error.message;
}

TEST_F(SshLogin, a_hosts_own_identity_file_is_the_only_one_tried) {
    endpoint_.identity_file = options_.identity_files.front();
    options_.identity_files = {sshd_->make_key("stranger", "-t ed25519")};
    expect_runs(options_, endpoint_);
    std::swap(endpoint_.identity_file, options_.identity_files.front());
    expect_refused(options_, endpoint_, "auth_failed", "auth");
}

TEST_F(SshLogin, a_hosts_own_identity_file_that_is_not_there_is_that_hosts_error) {
    endpoint_.identity_file = sshd_->file("absent");
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "absent");
}

TEST_F(SshLogin, default_keys_of_the_home_are_found) {
    options_.identity_files.clear();
    options_.home = sshd_->file("home");
    mkdir(options_.home.c_str(), 0700);
    mkdir((options_.home + "/.ssh").c_str(), 0700);
    const Error none = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(none.message, "no key to offer");
    sshd_->make_key("home/.ssh/id_ecdsa", "-t ecdsa");
    sshd_->authorize("home/.ssh/id_ecdsa");
    expect_runs(options_, endpoint_);
    EXPECT_TRUE(ssh_notes(*context_).empty());
}

TEST_F(SshLogin, a_default_key_that_cannot_be_used_is_noted) {
    options_.identity_files.clear();
    options_.home = sshd_->file("home");
    mkdir(options_.home.c_str(), 0700);
    mkdir((options_.home + "/.ssh").c_str(), 0700);
    sshd_->make_key("home/.ssh/id_ed25519", "-t ed25519 -N secret");
    expect_refused(options_, endpoint_, "auth_failed", "auth");
    ASSERT_EQ(ssh_notes(*context_).size(), 1u);
    expect_says(ssh_notes(*context_).front(), "id_ed25519");
}

TEST_F(SshLogin, a_key_that_others_may_read_is_refused_before_any_connection) {
    chmod(options_.identity_files.front().c_str(), 0640);
    const auto context = load_ssh_context(options_);
    ASSERT_FALSE(context);
    EXPECT_EQ(context.error().kind, "identity");
    expect_says(context.error().message, "0640");
    expect_says(context.error().remedy, "chmod 600 ");
}

TEST_F(SshLogin, an_encrypted_key_without_agent_is_refused_before_any_connection) {
    for (const char* arguments : {"-t ed25519 -N secret", "-t ecdsa -m PEM -N secret"}) {
        options_.identity_files = {sshd_->make_key(std::string("e") + arguments[4], arguments)};
        const auto context = load_ssh_context(options_);
        ASSERT_FALSE(context) << arguments;
        EXPECT_EQ(context.error().kind, "identity");
        expect_says(context.error().message, "encrypted");
        expect_says(context.error().remedy, "encrypted keys: use the agent");
    }
}

TEST_F(SshLogin, a_key_file_that_is_not_there_is_refused_before_any_connection) {
    options_.identity_files = {sshd_->file("absent")};
    const auto context = load_ssh_context(options_);
    ASSERT_FALSE(context);
    EXPECT_EQ(context.error().kind, "identity");
}

TEST_F(SshLogin, the_agent_signs_with_its_keys) {
    const Agent agent;
    agent.add(sshd_->make_key("stranger", "-t ecdsa"));
    agent.add(options_.identity_files.front());
    options_.agent_socket = agent.socket();
    options_.identity_files.clear();
    expect_runs(options_, endpoint_);
}

TEST_F(SshLogin, the_agent_signs_for_an_encrypted_key_and_for_a_public_one) {
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

TEST_F(SshLogin, with_a_named_key_the_agents_other_keys_are_not_offered) {
    const Agent agent;
    agent.add(options_.identity_files.front());
    options_.agent_socket = agent.socket();
    options_.identity_files = {sshd_->make_key("stranger", "-t ed25519")};
    expect_refused(options_, endpoint_, "auth_failed", "auth");
}

TEST_F(SshLogin, an_agent_that_is_gone_costs_its_keys_only) {
    options_.agent_socket = sshd_->file("no-agent");
    expect_runs(options_, endpoint_);
    options_.identity_files.clear();
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "the agent is not there");
}

TEST_F(SshLogin, an_agent_that_hangs_costs_its_time_only) {
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

TEST_F(SshLogin, an_agent_that_hangs_up_or_talks_nonsense_costs_its_keys_only) {
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
        : server_(path, [real, before_signing](int peer) {
              const int agent = connect_unix(real);
              std::string request;
              while (receive_message(peer, request)) {
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

  private:
    FakeServer server_;
};

TEST_F(SshLogin, libssh2_waits_for_a_slow_signature) {
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

TEST_F(SshLogin, an_agent_that_refuses_to_sign_is_said) {
    const Agent agent;
    agent.add(options_.identity_files.front());
    const AgentInBetween refusing(sshd_->file("refusing"), agent.socket(), [] { return false; });
    options_.agent_socket = sshd_->file("refusing");
    options_.identity_files.clear();
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "the agent refused to sign");
}

TEST_F(SshLogin, an_agent_that_hangs_while_signing_ends_with_the_login) {
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

TEST_F(SshLogin, many_logins_at_once_through_one_agent) {
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

}  // namespace
}  // namespace cleanslate::agentless::contract
