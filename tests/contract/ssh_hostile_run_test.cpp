// Commands on a server that is let in to and then says too much, too little, or nothing.
#include <unistd.h>

#include "tests/contract/fake_server.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

class SshHostileRun : public SshTest {
  protected:
    // An sshd whose every command is `command`, which finds the asked one in $SSH_ORIGINAL_COMMAND.
    void open_forced(const std::string& command) {
        sshd_ = std::make_unique<Sshd>("ForceCommand " + command);
        auto connection = open(sshd_->options(), sshd_->endpoint());
        ASSERT_TRUE(connection) << connection.error().message;
        connection_ = std::move(*connection);
    }
    Result<RunOutput> run(const Script& script, std::chrono::milliseconds time = 60s,
                          std::size_t max_bytes = 64u << 20) {
        return await(io_, connection_->run(script, Limits{in(time), max_bytes}));
    }
    std::unique_ptr<Sshd> sshd_;
    std::unique_ptr<Connection> connection_;
};

TEST_F(SshHostileRun, ten_megabytes_before_the_output_are_output) {
    open_forced("head -c 10000000 /dev/zero | tr '\\0' m; eval \"$SSH_ORIGINAL_COMMAND\"");
    const auto ran = run({"/bin/sh -s", "echo done"});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out.size(), 10000005u);
    EXPECT_EQ(ran->out.substr(10000000), "done\n");
}

TEST_F(SshHostileRun, ten_megabytes_before_the_output_are_too_much_for_a_limit) {
    open_forced("head -c 10000000 /dev/zero | tr '\\0' m; eval \"$SSH_ORIGINAL_COMMAND\"");
    const auto ran = run({"/bin/sh -s", "echo done"}, 60s, 8u << 20);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "output_limit");
}

TEST_F(SshHostileRun, a_csh_in_between_changes_nothing) {
    if (access("/bin/csh", X_OK) != 0) GTEST_SKIP() << "needs /bin/csh (package csh or tcsh)";
    open_forced("exec /bin/csh -c \"$SSH_ORIGINAL_COMMAND\"");
    const auto ran = run({"/bin/sh -s", "x='!a $b'; echo \"$x\" 2>&1; exit 5"});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "!a $b\n");
    EXPECT_EQ(ran->exit_status, 5);
}

TEST_F(SshHostileRun, a_connection_that_closes_in_the_middle_of_the_output_is_lost) {
    open_forced("echo partial; sleep 0.1; kill -KILL $PPID");
    const auto ran = run({"/bin/sh -s", "echo done"});
    ASSERT_FALSE(ran) << "status " << ran->exit_status.value_or(-1);
    EXPECT_EQ(ran.error().kind, "connection_lost");
    const auto again = run({"/bin/sh -s", "echo done"});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind, "connection_lost");
}

// The nonce is what tells the gate's marker from a login file that has read this project.
TEST_F(SshHostileRun, a_marker_without_its_nonce_opens_no_gate) {
    open_forced(
        "printf \"cleanslate-\\n0123456789abcdef\\n\"; echo cleanslate-0123456789abcdef; "
        "timeout 0.3 head -c 1 | wc -c");
    Script script{"/bin/sh -s", "echo in"};
    script.gate = Script::Gate{"cleanslate-00112233445566778899aabbccddeeff", "", "", nullptr};
    const auto ran = run(script);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_FALSE(ran->gate_passed);
    EXPECT_EQ(ran->out, "cleanslate-\n0123456789abcdef\ncleanslate-0123456789abcdef\n0\n");
}

TEST_F(SshHostileRun, a_connection_that_closes_at_the_prompt_is_lost) {
    open_forced("printf prompt-1f: >&2; read -r x; kill -KILL $PPID");
    Script script{"/bin/sh -s", "echo in"};
    script.gate = Script::Gate{"marker-1f", "prompt-1f:", "secret", nullptr};
    const auto ran = run(script);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "connection_lost");
}

TEST_F(SshHostileRun, output_that_drips_is_whole_in_the_end_or_runs_into_the_deadline) {
    sshd_ = std::make_unique<Sshd>();
    connection_ = std::move(open(sshd_->options(), sshd_->endpoint()).value());
    const auto slow = run({"/bin/sh -s", "for i in 1 2 3 4 5; do echo $i; sleep 0.05; done"});
    ASSERT_TRUE(slow) << slow.error().message;
    EXPECT_EQ(slow->out, "1\n2\n3\n4\n5\n");
    const auto endless = run({"/bin/sh -s", "while :; do echo x; sleep 0.02; done"}, 400ms);
    ASSERT_FALSE(endless);
    EXPECT_EQ(endless.error().kind, "timeout");
}

TEST_F(SshHostileRun, a_background_process_that_keeps_the_output_open_runs_into_the_deadline) {
    sshd_ = std::make_unique<Sshd>();
    connection_ = std::move(open(sshd_->options(), sshd_->endpoint()).value());
    const auto ran = run({"/bin/sh -s", "sleep 5 & echo done"}, 1500ms);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "timeout");
}

TEST_F(SshHostileRun, a_host_that_allows_no_session_refuses) {
    sshd_ = std::make_unique<Sshd>("MaxSessions 0");
    connection_ = std::move(open(sshd_->options(), sshd_->endpoint()).value());
    const auto ran = run({"/bin/sh -s", "echo done"});
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "refused");
}

}  // namespace
}  // namespace cleanslate::agentless::contract
