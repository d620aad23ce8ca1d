// ProxyCommand, with the real sshd behind it.
#include <csignal>
#include <thread>

#include "tests/contract/jump_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

class SshProxyCommand : public SshJump {
  protected:
    SshOptions options_with(const std::string& command) const {
        SshOptions options = target_->options();
        options.config_file = target_->file("ssh_config");
        write_file(*options.config_file, "Host *\n    ProxyCommand " + command + "\n");
        return options;
    }
    // Connects its standard streams with the host, as nc does.
    std::string relay() const {
        return "bash -c 'echo $$ > " + pid_file() + "; exec 3<>/dev/tcp/%h/%p; cat <&3 & exec cat >&3'";
    }
    std::string pid_file() const { return target_->file("pid"); }
    bool is_gone() const {
        const pid_t pid = std::stoi(read_text(pid_file()));
        const auto deadline = in(20s);
        while (kill(pid, 0) == 0 && Clock::now() < deadline) std::this_thread::sleep_for(5ms);
        return kill(pid, 0) != 0;
    }
};

TEST_F(SshProxyCommand, a_host_is_reached_through_it_and_it_ends_with_the_session) {
    const int before = open_descriptors();
    {
        const auto connection = open(options_with(relay()), target_->endpoint());
        ASSERT_TRUE(connection) << connection.error().message;
        const std::string bytes(1u << 20, 'x');
        const auto ran = await(io_, (*connection)->run(Script{"cat", bytes}, Limits{in(60s)}));
        ASSERT_TRUE(ran) << ran.error().message;
        EXPECT_TRUE(ran->out == bytes);
    }
    EXPECT_TRUE(is_gone());
    transport_.reset();
    io_.restart();
    io_.poll();
    EXPECT_LE(open_descriptors(), before + 3) << "those of the io_context alone";
}

TEST_F(SshProxyCommand, one_that_fails_says_why_and_is_not_tried_again) {
    const std::string command =
        "sh -c 'echo >> " + target_->file("runs") + "; echo first >&2; echo no way to %h >&2; exit 3'";
    const Error error =
        expect_refused(options_with(command), target_->endpoint(), "connect_failed", "connect");
    expect_says(error.message, "ProxyCommand ended with status 3");
    expect_says(error.message, "first; no way to 127.0.0.77");
    EXPECT_EQ(read_text(target_->file("runs")), "\n");
}

TEST_F(SshProxyCommand, one_that_is_not_there_says_so) {
    const Error error = expect_refused(options_with("/nonexistent/command %h"), target_->endpoint(),
                                       "connect_failed", "connect");
    expect_says(error.message, "status 127");
    expect_says(error.message, "/nonexistent/command");
}

TEST_F(SshProxyCommand, one_that_hangs_runs_into_the_deadline_and_is_killed) {
    SshOptions options =
        options_with("sh -c 'echo $$ > " + pid_file() + "; echo waiting >&2; sleep 300; true'");
    options.connect_timeout = 1s;
    const Error error = expect_refused(options, target_->endpoint(), "connect_timeout", "connect");
    expect_says(error.message, "ProxyCommand gave no connection in time: waiting");
    EXPECT_TRUE(is_gone());
}

TEST_F(SshProxyCommand, what_it_says_is_printable_and_not_endless) {
    const Error error = expect_refused(
        options_with("sh -c 'head -c 100000 /dev/zero >&2; printf \"\\033[2Jend\" >&2; exit 1'"),
        target_->endpoint(), "connect_failed", "connect");
    EXPECT_EQ(error.message.find('\033'), std::string::npos);
    expect_says(error.message, "end");
    EXPECT_LT(error.message.size(), 2000u);
}

TEST_F(SshProxyCommand, what_is_no_ssh_is_told_apart_from_what_gives_no_connection) {
    // It is there until our greeting came: one that is gone by then is one that gives no connection.
    const SshOptions options = options_with("sh -c 'echo hello; read -r x'");
    const Error error = expect_refused(options, target_->endpoint(), "handshake_failed", "handshake");
    expect_says(error.message, "hello");
}

TEST_F(SshProxyCommand, ssh_with_options_of_its_own_runs_as_a_command) {
    const Sshd jump;
    const Endpoint there = jump.endpoint();
    const std::string command =
        "ssh -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -i " + jump.file("client") +
        " -p " + std::to_string(jump.port()) + " -W %h:%p " + there.user + "@" + there.address;
    expect_runs(options_with(command), target_->endpoint());
}

TEST_F(SshProxyCommand, plain_ssh_is_a_jump_that_hosts_share) {
    const Sshd jump;
    const Endpoint there = jump.endpoint();
    SshOptions options = options_for({&jump});
    options.config_file = target_->file("ssh_config");
    write_file(*options.config_file,
               "Host gpu*\n    HostName 127.0.0.77\n"
               "    ProxyCommand ssh -q -p " +
                   std::to_string(jump.port()) + " -W %h:%p " + there.user + "@" + there.address + "\n");
    start(options);
    std::vector<Endpoint> endpoints(3, target_->endpoint());
    for (Endpoint& endpoint : endpoints) endpoint.address = "gpu01";
    for (const Visit& visit : visit_each(endpoints)) EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
    EXPECT_EQ(count_of(jump.log(), "Accepted publickey"), 1) << jump.log();
}

}  // namespace
}  // namespace cleanslate::agentless::contract
