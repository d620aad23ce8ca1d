// A host that allows one session at a time on a connection (MaxSessions 1).
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <thread>

#include "agentless/ssh/command.hpp"
#include "agentless/ssh/identities.hpp"
#include "agentless/ssh/login.hpp"
#include "agentless/ssh/socket_link.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

// Keeps every processor busy while it is there.
class Load {
  public:
    Load() {
        for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
            threads_.emplace_back([this] {
                while (!ended_) continue;
            });
    }
    ~Load() {
        ended_ = true;
        for (std::thread& thread : threads_) thread.join();
    }

  private:
    std::atomic<bool> ended_ = false;
    std::vector<std::thread> threads_;
};

class SshSessions : public SshTest {
  protected:
    Result<RunOutput> run(Connection& connection, const std::string& script) {
        return await(io_, connection.run(Script{"/bin/sh -s", script}, Limits{in(60s)}));
    }
};

TEST_F(SshSessions, one_at_a_time_is_enough_for_any_number_one_after_another) {
    const Sshd sshd("MaxSessions 1");
    const auto connection = open(sshd.options(), sshd.endpoint());
    ASSERT_TRUE(connection) << connection.error().message;
    const Load load;
    for (int i = 0; i < 100; ++i) {
        const std::string text = std::to_string(i);
        const auto ran = run(**connection, "echo " + text + "; exit " + text);
        ASSERT_TRUE(ran) << text << ": " << ran.error().message;
        EXPECT_EQ(ran->out, text + "\n");
        EXPECT_EQ(ran->exit_status, i);
    }
}

TEST_F(SshSessions, what_a_script_leaves_running_without_the_channel_delays_no_other) {
    const Sshd sshd("MaxSessions 1");
    const auto connection = open(sshd.options(), sshd.endpoint());
    ASSERT_TRUE(connection) << connection.error().message;
    for (int i = 0; i < 10; ++i) {
        const auto ran = run(**connection, "sleep 300 </dev/null >/dev/null 2>&1 & echo $!");
        ASSERT_TRUE(ran) << ran.error().message;
        const auto looked = run(**connection, "kill " + ran->out);
        ASSERT_TRUE(looked) << looked.error().message;
        EXPECT_EQ(looked->exit_status, 0) << "it did not live any more: " << looked->err;
    }
}

// What holds the only session here is a channel that nobody closes.
class SshSessionHeld : public SshSessions {
  protected:
    void log_in_at(const Sshd& sshd) {
        const SshOptions options = sshd.options();
        ASSERT_TRUE(load_ssh_context(options));  // which starts libssh2
        const auto settings = ssh::settings_for(sshd.endpoint(), options, ssh::SshConfig());
        ASSERT_TRUE(settings) << settings.error().message;
        const auto identities = ssh::Identities::load(options);
        ASSERT_TRUE(identities) << identities.error().message;
        const auto link = std::make_shared<ssh::SocketLink>(io_, cancellation_);
        const boost::asio::ip::tcp::endpoint address(boost::asio::ip::make_address(sshd.endpoint().address),
                                                     sshd.port());
        ASSERT_FALSE(await(io_, link->connect(address, in(60s))));
        session_ = std::make_unique<ssh::Session>(link);
        ASSERT_TRUE(await(io_, session_->handshake({"ssh-ed25519"}, in(60s))));
        const auto credentials = (*identities)->credentials_for(*settings);
        ASSERT_TRUE(credentials) << credentials.error().message;
        ASSERT_TRUE(
            await(io_, ssh::log_in(*session_, io_, cancellation_, *credentials, nullptr, "host", in(60s))));
    }
    // sshd may still count the one before.
    void hold_a_session() {
        const ssh::Session::Step hold = [&] {
            return libssh2_channel_open_session(session_->handle()) != nullptr
                       ? 0
                       : libssh2_session_last_errno(session_->handle());
        };
        ssh::Answer answer;
        do answer = await(io_, session_->repeat(hold, in(60s)));
        while (answer.code == LIBSSH2_ERROR_CHANNEL_FAILURE);
        ASSERT_TRUE(answer.good()) << session_->explain(answer.code);
    }
    int refusals(const Sshd& sshd) {
        const std::string log = sshd.log(), words = "no more sessions";
        int count = 0;
        for (auto at = log.find(words); at != std::string::npos; at = log.find(words, at + 1)) ++count;
        return count;
    }
    Result<RunOutput> run_within(std::chrono::milliseconds time) {
        return await(io_, ssh::run_command(*session_, Script{"true", ""}, Limits{in(time)}));
    }

    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
    std::unique_ptr<ssh::Session> session_;
};

TEST_F(SshSessionHeld, a_host_that_goes_on_refusing_is_asked_for_two_seconds_and_not_for_ever) {
    const Sshd sshd("MaxSessions 1");
    log_in_at(sshd);
    ASSERT_TRUE(run_within(60s));
    hold_a_session();
    const int before = refusals(sshd);
    const auto begin = Clock::now();
    const auto ran = run_within(60s);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "refused");
    expect_says(ran.error().remedy, "MaxSessions");
    EXPECT_LT(Clock::now() - begin, 50s);  // far from its deadline
    EXPECT_GT(refusals(sshd), before + 2);
    EXPECT_LT(refusals(sshd), before + 50);
}

TEST_F(SshSessionHeld, a_host_that_refuses_the_first_one_is_not_asked_again) {
    const Sshd sshd("MaxSessions 1");
    log_in_at(sshd);
    hold_a_session();
    const auto ran = run_within(60s);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "refused");
    EXPECT_EQ(refusals(sshd), 1) << sshd.log();
}

}  // namespace
}  // namespace cleanslate::agentless::contract
