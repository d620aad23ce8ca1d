#include "inventory/ssh_args.hpp"

#include <gtest/gtest.h>

namespace cleanslate::inventory {
namespace {

using Files = std::vector<std::string>;

std::string refusal(std::string_view options) {
    const auto read = read_ssh_args(options);
    return read ? "none" : read.error().message;
}

// "-": no jump among them.
std::string jump(std::string_view options) {
    const auto read = read_ssh_args(options);
    return !read ? "refused: " + read.error().message : read->jump.value_or("-");
}

TEST(SshArgs, SayHowAHostIsReached) {
    const auto said = read_ssh_args(
                          "-p 2222 -lroot -i /k1 -o IdentityFile=/k2 -o 'UserKnownHostsFile /a /b' "
                          "-oGlobalKnownHostsFile=none -o StrictHostKeyChecking=no -o ConnectTimeout=7")
                          .value();
    EXPECT_EQ(said.port, 2222);
    EXPECT_EQ(said.user, "root");
    EXPECT_EQ(said.identity_files, (Files{"/k1", "/k2"}));
    EXPECT_EQ(said.known_hosts, (Files{"/a", "/b"}));
    EXPECT_EQ(said.global_known_hosts, Files{"none"});
    EXPECT_EQ(said.host_keys, HostKeyTrust::off);
    EXPECT_EQ(said.connect_timeout, Milliseconds{7'000});
    EXPECT_EQ(said.jump, std::nullopt);
}

TEST(SshArgs, TheFirstOfEachCounts) {
    const auto said = read_ssh_args(
                          "-p 1 -p 2 -o User=a -l b -o StrictHostKeyChecking=accept-new "
                          "-o StrictHostKeyChecking=no -J x -o ProxyCommand=none")
                          .value();
    EXPECT_EQ(said.port, 1);
    EXPECT_EQ(said.user, "a");
    EXPECT_EQ(said.host_keys, HostKeyTrust::accept_new);
    EXPECT_EQ(said.jump, "x");
}

TEST(SshArgs, WhatChangesNothingIsPassedOver) {
    const auto said = read_ssh_args(
        "-C -4q -tt -o ControlMaster=auto -o ControlPersist=60s -o 'ControlPath=~/a b' "
        "-o ServerAliveInterval=30 -o LogLevel=ERROR -o ForwardAgent=yes -S none "
        "-o 'PreferredAuthentications publickey' -o IdentitiesOnly=yes");
    ASSERT_TRUE(said) << said.error().message;
    EXPECT_EQ(said->port, std::nullopt);
    EXPECT_TRUE(read_ssh_args("").has_value());
}

TEST(SshArgs, EveryOtherOptionIsNamed) {
    EXPECT_EQ(refusal("-o Tunnel=yes"), "the option tunnel of ssh is not known here");
    EXPECT_EQ(refusal("-o HostName=other"), "the option hostname of ssh is not known here");
    EXPECT_EQ(refusal("-F /etc/x"), "the option -F of ssh is not known here");
    EXPECT_EQ(refusal("-N"), "the option -N of ssh is not known here");
    EXPECT_EQ(refusal("otherhost"), "the option otherhost of ssh is not known here");
    EXPECT_EQ(refusal("-J"), "ssh's -J has no value");
    EXPECT_EQ(refusal("-p 0"), "\"0\" is no value of ssh's Port");
    EXPECT_EQ(refusal("-o StrictHostKeyChecking=maybe"),
              "\"maybe\" is no value of ssh's StrictHostKeyChecking");
    EXPECT_EQ(refusal("-i ~/.ssh/%h"), "\"~/.ssh/%h\" is no value of ssh's IdentityFile");
    EXPECT_EQ(refusal("-J 'a"), "a quote has no end");
}

TEST(SshArgs, JumpHostsHaveManySpellings) {
    for (const std::string options :
         {"-J a,b", "-Ja,b", "-o ProxyJump=a,b", "-oProxyJump=a,b", "-o proxyjump=a,b", "-o 'ProxyJump a,b'",
          "-o ProxyJump=\"a,b\"", "-o \"ProxyJump = a,b\"", "-q -4J a,b",
          "-o StrictHostKeyChecking=no -J a,b", "-i key -J a,b -J c", "-o\tProxyJump=a,b"})
        EXPECT_EQ(jump(options), "a,b") << options;
    EXPECT_EQ(jump("-J none"), "none");
    EXPECT_EQ(jump("-J '{{ jump }}'"), "refused: found no jump host in \"{{ jump }}\"");
    EXPECT_EQ(jump("-o ProxyJump="), "refused: found no jump host in \"\"");
}

TEST(SshArgs, AreWordsAsPythonHasThem) {
    const auto user = [](std::string_view options) {
        return read_ssh_args(options).value().user.value_or("-");
    };
    EXPECT_EQ(user(R"(-l "CORP\bob")"), R"(CORP\bob)") << "inside of quotes a backslash is one";
    EXPECT_EQ(user(R"(-l "CORP\\bob")"), R"(CORP\bob)");
    EXPECT_EQ(user(R"(-l "a\"b")"), "a\"b");
    EXPECT_EQ(user(R"(-l "a\$b\`c")"), R"(a\$b\`c)") << "those are a shell's alone";
    EXPECT_EQ(user(R"(-l 'CORP\bob')"), R"(CORP\bob)");
    EXPECT_EQ(user(R"(-l CORP\\bob)"), R"(CORP\bob)");
    EXPECT_EQ(user(R"(-l CORP\bob)"), "CORPbob");
}

TEST(SshArgs, AProxyCommandIsWordsAsAShellHasThem) {
    EXPECT_EQ(jump(R"(-o 'ProxyCommand=ssh -W %h:%p -l "CORP\bob" j')"), R"(CORP\bob@j)");
    EXPECT_EQ(jump(R"(-o 'ProxyCommand=ssh -W %h:%p -l "C\\b" j')"), R"(C\b@j)");
    EXPECT_NE(jump(R"(-o 'ProxyCommand=ssh -W %h:%p -l "C\$b" j')").find("\"C$b\" becomes"),
              std::string::npos);
}

// A login that is called %r is nobody's.
TEST(SshArgs, AProxyCommandNamesUserAndHostOutright) {
    for (const std::string user : {"%r", "$USER", "a;b", "a`b", "a&b", "a|b", "a b"})
        for (const std::string& command :
             {"ssh -W %h:%p '" + user + "@j'", "ssh -W %h:%p -l '" + user + "' j",
              "ssh -o 'User=" + user + "' -W %h:%p j", "ssh -W %h:%p -l ops -l '" + user + "' j"}) {
            const auto read = hop_of_proxy_command(command);
            ASSERT_FALSE(read) << command << ": " << *read;
            EXPECT_NE(read.error().message.find("becomes is not known here"), std::string::npos) << command;
            EXPECT_EQ(read.error().remedy,
                      "write user and host out, without % $ ; ` & | and blanks: ssh -W %h:%p USER@HOST");
        }
    EXPECT_EQ(jump("-o \"ProxyCommand=ssh -W %h:%p %r@j\""),
              "refused: the ProxyCommand \"ssh -W %h:%p %r@j\": what \"%r@j\" becomes is not known here");
    EXPECT_TRUE(jump("-o 'ProxyCommand=ssh -W %h:%p $BASTION'").starts_with("refused: "));
}

TEST(SshArgs, AProxyCommandOfSshIsAJump) {
    EXPECT_EQ(jump("-o ProxyCommand=\"ssh -W %h:%p -q ops@bastion\""), "ops@bastion");
    EXPECT_EQ(jump("-o 'ProxyCommand=ssh -q -l ops -p 2222 -i ~/.ssh/k -W [%h]:%p bastion'"),
              "ops@bastion:2222");
    EXPECT_EQ(jump("-o ProxyCommand='ssh -o StrictHostKeyChecking=no -W %h:%p 2001:db8::1'"),
              "[2001:db8::1]");
    EXPECT_EQ(jump("-o ProxyCommand=none"), "none");
    for (const std::string& command :
         {"nc -X 5 %h %p", "ssh bastion nc %h %p", "ssh -W other:22 bastion", "ssh -W %h:%p",
          "ssh -J a -W %h:%p b", "ssh -W %h:%p a b", "sshpass -p x ssh -W %h:%p a",
          "ssh -W %h:%p -o Tunnel=yes a", "ssh -W %h:%p '$(id)'"})
        EXPECT_TRUE(jump("-o \"ProxyCommand=" + command + "\"").starts_with("refused: ")) << command;
}

}  // namespace
}  // namespace cleanslate::inventory
