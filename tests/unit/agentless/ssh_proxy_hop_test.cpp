#include <gtest/gtest.h>

#include "agentless/ssh/proxy_command.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using Hop = std::optional<std::string>;

Hop hop_of(const std::string& command) { return hop_of_proxy_command(command, "gpu01.example", 22); }

TEST(SshProxyHop, ssh_that_only_forwards_is_a_jump) {
    EXPECT_EQ(hop_of("ssh -W gpu01.example:22 bastion"), "bastion");
    EXPECT_EQ(hop_of("ssh -W %h:%p bastion"), "bastion");
    EXPECT_EQ(hop_of("ssh -W [%h]:%p bastion"), "bastion");
    EXPECT_EQ(hop_of("ssh bastion -W [gpu01.example]:22"), "bastion");
    EXPECT_EQ(hop_of("exec ssh -q -W gpu01.example:22 me@bastion"), "me@bastion");
    EXPECT_EQ(hop_of("/usr/bin/ssh -q -l me -p 2222 -W gpu01.example:22 bastion"), "me@bastion:2222");
    EXPECT_EQ(hop_of("ssh  -lme\t-p2222 -Wgpu01.example:22  bastion "), "me@bastion:2222");
    EXPECT_EQ(hop_of("ssh -W %h:%p -p 22 fd00::1"), "[fd00::1]:22");
    EXPECT_EQ(hop_of_proxy_command("ssh -W [fd00::2]:2022 bastion", "fd00::2", 2022), "bastion");
}

TEST(SshProxyHop, whatever_is_not_understood_to_the_last_word_is_left_to_the_shell) {
    for (const char* command : {
             "",
             "ssh",
             "ssh bastion",
             "ssh -W",
             "ssh -W gpu01.example:22",
             "ssh bastion nc gpu01.example 22",
             "ssh -W gpu01.example:22 bastion true",
             "ssh -W gpu02.example:22 bastion",
             "ssh -W gpu01.example:23 bastion",
             "ssh -W gpu01.example:22 -W gpu01.example:22 bastion",
             "ssh -o User=me -W gpu01.example:22 bastion",
             "ssh -F other -W gpu01.example:22 bastion",
             "ssh -i key -W gpu01.example:22 bastion",
             "ssh -J other -W gpu01.example:22 bastion",
             "ssh -qA -W gpu01.example:22 bastion",
             "ssh -l me -W gpu01.example:22 you@bastion",
             "ssh -p 0 -W gpu01.example:22 bastion",
             "ssh -p x -W gpu01.example:22 bastion",
             "ssh - -W gpu01.example:22 bastion",
             "ssh -- -W gpu01.example:22 bastion",
             "ssh -W gpu01.example:22 ssh://bastion",
             "ssh -W gpu01.example:22 a,b",
             "ssh -W gpu01.example:22 me@",
             "ssh -W gpu01.example:22 'bastion'",
             "ssh -W gpu01.example:22 $JUMP",
             "ssh -W gpu01.example:22 bastion 2>/dev/null",
             "ssh -W gpu01.example:22 bastion; true",
             "/opt/ssh -W gpu01.example:22 bastion",
             "nc gpu01.example 22",
         })
        EXPECT_EQ(hop_of(command), std::nullopt) << command;
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
