// Jump hosts as ssh's configuration names them.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/contract/jump_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

class SshJumpConfig : public SshJump {
  protected:
    // No flags: all that is known is in the file.
    SshOptions options_with(const std::string& config) const {
        SshOptions options;
        options.home = target_->file("home");
        options.config_file = target_->file("ssh_config");
        write_file(*options.config_file, config);
        return options;
    }
    static std::string host_block(const std::string& name, const Sshd& sshd, const std::string& more = {}) {
        return "Host " + name + "\n    HostName " + sshd.endpoint().address + "\n    Port " +
               std::to_string(sshd.port()) + "\n    IdentityFile " + sshd.file("client") +
               "\n    UserKnownHostsFile " + sshd.file("known_hosts") + "\n" + more;
    }
    static Endpoint named(const std::string& name) {
        return {.name = name, .address = name, .user = {}, .identity_file = {}};
    }
};

TEST_F(SshJumpConfig, each_hop_has_its_own_user_key_and_known_hosts) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to log in as somebody else";
    const Sshd first, second;
    for (const char* name : {"", "authorized_keys"}) chmod(first.file(name).c_str(), 0755);
    start(options_with(host_block("first", first, "    User nobody\n") + host_block("second", second) +
                       host_block("gpu01", *target_, "    ProxyJump first,second\n")));
    for (const Visit& visit : visit_each({named("gpu01"), named("gpu01")}))
        EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
    expect_says(first.log(), "Accepted publickey for nobody");
    expect_says(second.log(), "Accepted publickey for root");
}

TEST_F(SshJumpConfig, the_first_hop_obeys_its_own_proxy_jump) {
    const Sshd first, second;
    start(options_with(host_block("first", first) + host_block("second", second, "    ProxyJump first\n") +
                       host_block("gpu01", *target_, "    ProxyJump second\n")));
    EXPECT_TRUE(visit_each({named("gpu01")}).front().ok("in\n"));
    EXPECT_EQ(count_of(first.log(), "Accepted publickey"), 1);
    EXPECT_EQ(count_of(second.log(), "Accepted publickey"), 1);
}

TEST_F(SshJumpConfig, flags_for_the_hosts_name_no_user_for_the_jump_host) {
    const Sshd jump;
    SshOptions options = options_with(host_block("jump", jump) + host_block("gpu01", *target_));
    options.user = "nobody";
    Endpoint endpoint = named("gpu01");
    endpoint.proxy_jump = "jump";
    start(options);
    EXPECT_FALSE(visit_each({endpoint}).front().ran) << "nobody was let in";
    expect_says(jump.log(), "Accepted publickey for " + jump.endpoint().user);
}

TEST_F(SshJumpConfig, a_jump_that_needs_itself_is_named) {
    const std::string loops[] = {
        "Host a\n    ProxyJump b\nHost b\n    ProxyJump a\nHost gpu01\n    ProxyJump a\n",
        "Host *\n    ProxyJump a\n",
        "Host gpu01\n    ProxyJump a,b,a\n",
        "Host gpu01\n    ProxyJump gpu01\n",
    };
    for (const std::string& config : loops) {
        SCOPED_TRACE(config);
        start(options_with(config));
        const Error error = one_error(visit_each({named("gpu01")}));
        EXPECT_EQ(error.kind, "jump_failed");
        EXPECT_EQ(error.phase, "jump");
        expect_says(error.message, "needs itself");
    }
    expect_says(one_error(visit_each({named("gpu01")})).message, "jump host gpu01");
}

// A head node among the nodes behind it.
TEST_F(SshJumpConfig, a_jump_host_is_reached_through_itself_where_only_the_host_is_to_go_that_way) {
    const Sshd head;
    SshOptions options = head.options();
    Endpoint endpoint = head.endpoint();
    endpoint.proxy_jump = "[" + endpoint.address + "]:" + std::to_string(head.port());
    options.config_file = "none";
    start(options);
    EXPECT_TRUE(visit_each({endpoint}).front().ok("in\n"));
}

TEST_F(SshJumpConfig, a_hop_that_makes_no_sense_is_quoted) {
    start(options_with(""));
    Endpoint endpoint = named("gpu01");
    endpoint.proxy_jump = "me@:22";
    const Error error = one_error(visit_each({endpoint}));
    EXPECT_EQ(error.kind, "jump_failed");
    expect_says(error.message, "me@:22");
}

}  // namespace
}  // namespace cleanslate::agentless::contract
