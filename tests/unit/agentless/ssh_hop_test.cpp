#include <gtest/gtest.h>

#include "agentless/ssh/host_settings.hpp"

namespace cleanslate::agentless::ssh {
namespace {

Endpoint hop(const std::string& text) {
    const auto endpoint = endpoint_of_hop(text);
    EXPECT_TRUE(endpoint) << text << ": " << endpoint.error().message;
    return endpoint.value_or(Endpoint{});
}

TEST(SshHop, a_name_alone_leaves_the_rest_to_the_configuration) {
    const Endpoint endpoint = hop("bastion");
    EXPECT_EQ(endpoint.address, "bastion");
    EXPECT_EQ(endpoint.user, "");
    EXPECT_FALSE(endpoint.port);
    EXPECT_FALSE(endpoint.proxy_jump);
    EXPECT_EQ(endpoint.name, "bastion");
}

TEST(SshHop, user_and_port_are_taken_from_it) {
    const Endpoint endpoint = hop("me@bastion:2222");
    EXPECT_EQ(endpoint.address, "bastion");
    EXPECT_EQ(endpoint.user, "me");
    EXPECT_EQ(endpoint.port, 2222);
    EXPECT_EQ(hop("me@corp.example@bastion").user, "me@corp.example");
}

TEST(SshHop, an_ipv6_address_needs_brackets_only_with_a_port) {
    EXPECT_EQ(hop("[fd00::1]:2222").address, "fd00::1");
    EXPECT_EQ(hop("[fd00::1]:2222").port, 2222);
    EXPECT_EQ(hop("me@[fd00::1]").address, "fd00::1");
    EXPECT_FALSE(hop("me@[fd00::1]").port);
    EXPECT_EQ(hop("fd00::1").address, "fd00::1");
    EXPECT_FALSE(hop("fd00::1").port);
}

TEST(SshHop, it_may_be_an_address_of_the_kind_ssh) {
    EXPECT_EQ(hop("ssh://me@bastion:2222").address, "bastion");
    EXPECT_EQ(hop("ssh://me@bastion:2222").port, 2222);
    EXPECT_EQ(hop("ssh://me@bastion:2222").user, "me");
    EXPECT_EQ(hop("ssh://bastion/").address, "bastion");
}

TEST(SshHop, what_makes_no_sense_is_refused_and_quoted) {
    for (const char* text : {"", "@bastion", "me@", "bastion:", "bastion:0", "bastion:65536", "bastion:22x",
                             "[fd00::1", "[fd00::1]22", "[]:22", "a b", "-oProxyCommand=x", "-l@bastion",
                             "a,b", "http://bastion", "ssh://", "bast\nion"}) {
        const auto endpoint = endpoint_of_hop(text);
        ASSERT_FALSE(endpoint) << text;
        EXPECT_EQ(endpoint.error().kind, "usage");
        EXPECT_EQ(endpoint.error().message.find('\n'), std::string::npos);
        EXPECT_NE(endpoint.error().message.find("jump host \""), std::string::npos);
    }
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
