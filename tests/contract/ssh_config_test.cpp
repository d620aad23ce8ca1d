// ssh and cleanslate read the same configurations and decide the same: every supported keyword and rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agentless/ssh/ssh_config.hpp"
#include "tests/contract/ssh_config_judge.hpp"
#include "tests/contract/sshd.hpp"

namespace cleanslate::agentless::contract {
namespace {

struct Row {
    const char* about;
    std::string config;  // DIR stands for the folder that has the files below
    std::vector<Asked> asked = {{"gpu01"}, {"login1"}};
    std::vector<std::pair<std::string, std::string>> files{};
};

std::string in_folder(std::string text, const std::string& folder) {
    for (auto at = text.find("DIR"); at != std::string::npos; at = text.find("DIR", at + folder.size()))
        text.replace(at, 3, folder);
    return text;
}

const std::vector<Row>& rows() {
    static const std::vector<Row> all{
        {"nothing is configured", "", {{"gpu01"}, {"GPU01.Example.COM"}, {"::0001"}, {"10.1"}, {"FE80::1"}}},
        {"the first value wins", "User alice\nUser bob\nPort 23\nPort 24\n"},
        {"a flag wins over the file",
         "User alice\nPort 23\n",
         {{"gpu01", "carol", 2200}, {"gpu01", "carol"}}},
        {"Host has patterns", "Host gpu0?\n User a\nHost gpu*\n Port 24\nHost *\n User b\n Port 25\n"},
        {"a negated pattern excludes",
         "Host * !gpu01\n User a\nHost !login1\n User b\nHost !x *\n Port 24\n"},
        {"Host sees the name as it is typed", "Host gpu01\n User a\n", {{"gpu01"}, {"GPU01"}}},
        {"commas mean nothing in Host", "Host gpu01,login1\n User a\n"},
        {"Host without a pattern is nobody", "Host # all\n User a\n"},
        {"a comment ends a line of arguments", "Host login1 # gpu01\n User a # b\nPort 24 # 25\n"},
        {"a hash inside a word is no comment", "User a#b\nIdentityFile k#1\n"},
        {"lines may be empty, indented, commented, with CRLF",
         "# c\r\n\r\n   # d\r\n\tUser\ta\r\n  Port=24\r\nHost gpu01\r\n\tHostName b\r\n"},
        {"an equals sign and blanks separate", "User=a\nPort = 24\nIdentityFile =k1\n HostKeyAlias= b\n"},
        {"quotes keep blanks", "User \"a b\"\nIdentityFile \"my key\"\nHostKeyAlias 'c d'\n"},
        {"quotes may stand inside a word, and backslashes quote", "User 'a b'c\\ d\\\"e\\x\n"},
        {"keywords have no case", "USER a\npOrT 24\nidentityFILE k1\n"},
        {"a keyword may be quoted", "\"User\" a\n"},
        {"a form feed ends a line", "User a\f\n"},
        {"the last line has no end", "User a\nPort 24"},
        {"HostName replaces, %h is the name", "Host gpu*\n HostName %h.cluster.Example.com\n"},
        {"HostName with a percent sign", "HostName %%h\n"},
        {"HostName is an address", "HostName ::0001\n"},
        {"HostName is a short address", "HostName 127.1\n"},
        {"Port by the name of its service", "Port ssh\n"},
        {"Port with zeros and a sign", "Port +0024\n"},
        {"IdentityFile accumulates, doubles are dropped",
         "IdentityFile k1\nHost gpu*\n IdentityFile ~/k2\n IdentityFile k1\nHost *\n IdentityFile k3\n"},
        {"IdentityFile none",
         "Host gpu*\n IdentityFile none\nHost login1\n IdentityFile none\n IdentityFile k1\n"},
        {"CertificateFile accumulates", "CertificateFile c1\nCertificateFile ~/c2\nCertificateFile c1\n"},
        {"tokens in files",
         "HostName real.example.com\nUser alice\nPort 24\nHostKeyAlias Alias\n"
         "IdentityFile ~/%h-%n-%p-%r-%d-%u-%%-%i-%k-%l-%L\nCertificateFile %h/%r\n"
         "UserKnownHostsFile ~/%h-%n-%p-%r-%u-%%-%i-%k-%l-%L\n",
         {{"gpu01"}, {"GPU02", "bob", 2200}}},
        {"%k without an alias", "UserKnownHostsFile /k/%k\nHostName other\n"},
        {"variables in files", "IdentityFile ${HOME}/k\nUserKnownHostsFile ${HOME}/a%h b$HOME\n"},
        {"homes of users", "UserKnownHostsFile ~ ~/ ~root ~root/a b~/c\nIdentityAgent ~root/agent\n"},
        {"IdentitiesOnly", "Host gpu*\n IdentitiesOnly yes\nHost *\n IdentitiesOnly no\n"},
        {"IdentityAgent by path, tokens and variable", "IdentityAgent ${HOME}/%h-%r.sock\n"},
        {"IdentityAgent none", "IdentityAgent none\nIdentityAgent /a\n"},
        {"IdentityAgent from the environment", "IdentityAgent SSH_AUTH_SOCK\nIdentityAgent /a\n"},
        {"IdentityAgent from a variable",
         "Host gpu*\n IdentityAgent $HOME\nHost *\n IdentityAgent $NOT_SET_HERE\n"},
        {"known hosts files",
         "UserKnownHostsFile a b \"c d\"\nUserKnownHostsFile e\nGlobalKnownHostsFile ~/f %h\n"},
        {"known hosts files none",
         "UserKnownHostsFile none\nGlobalKnownHostsFile NONE\nUserKnownHostsFile a\n"},
        {"known hosts files that are a comment", "UserKnownHostsFile # a\nUserKnownHostsFile b\n"},
        {"StrictHostKeyChecking yes", "StrictHostKeyChecking yes\n"},
        {"StrictHostKeyChecking no", "StrictHostKeyChecking No\n"},
        {"StrictHostKeyChecking off", "StrictHostKeyChecking off\n"},
        {"StrictHostKeyChecking ask", "StrictHostKeyChecking ask\nStrictHostKeyChecking no\n"},
        {"StrictHostKeyChecking accept-new", "StrictHostKeyChecking ACCEPT-NEW\n"},
        {"StrictHostKeyChecking true", "StrictHostKeyChecking true\n"},
        {"HostKeyAlias is in small letters", "HostKeyAlias Cluster-A\n"},
        {"ConnectTimeout in seconds", "ConnectTimeout 7\n"},
        {"ConnectTimeout in units", "ConnectTimeout 1h2M3s4\n"},
        {"ConnectTimeout none leaves the next its turn", "ConnectTimeout none\nConnectTimeout 5\n"},
        {"ConnectTimeout 0", "ConnectTimeout 0\nConnectTimeout 5\n"},
        {"ServerAlive", "ServerAliveInterval 2m\nServerAliveCountMax 7\nServerAliveCountMax 8\n"},
        {"ProxyJump", "Host gpu*\n ProxyJump alice@a:2200,b\nHost *\n ProxyJump c\n"},
        {"ProxyJump with IPv6", "ProxyJump [2001:db8::1]:2200\n"},
        {"ProxyJump with tokens", "ProxyJump %r@jump-%n\nUser alice\n"},
        {"ProxyJump with a comment", "ProxyJump a # b\n"},
        {"ProxyJump none", "Host gpu*\n ProxyJump none\nHost *\n ProxyJump a\n"},
        {"ProxyCommand with tokens", "ProxyCommand nc -X \"5\" %h %p # %r@%n %%\nUser alice\nPort=24\n"},
        {"ProxyCommand behind an equals sign", "ProxyCommand = nc %h\n"},
        {"ProxyCommand none", "ProxyCommand none\nProxyCommand nc\nProxyJump a\n"},
        {"ProxyJump comes first", "ProxyJump a\nProxyCommand nc\n"},
        {"ProxyCommand comes first", "ProxyCommand nc\nProxyJump a\n"},
        {"ProxyJump none, then a command", "ProxyJump none\nProxyCommand nc\nProxyJump b\n"},
        {"ways to log in",
         "Host gpu*\n PubkeyAuthentication no\nHost login*\n PasswordAuthentication no\nHost *\n "
         "KbdInteractiveAuthentication "
         "no\n"},
        {"older names",
         "ChallengeResponseAuthentication no\nDSAAuthentication yes\nIdentityFile2 k1\nKeepAlive "
         "yes\nProtocol 2\n"},
        {"PubkeyAuthentication has more than yes and no", "PubkeyAuthentication host-bound\n"},
        {"PreferredAuthentications", "PreferredAuthentications password,publickey\nBatchMode no\n"},
        {"BatchMode", "BatchMode yes\n"},
        {"AddressFamily and BindAddress",
         "Host gpu*\n AddressFamily INET6\n BindAddress ::1\nHost *\n AddressFamily inet\n BindAddress "
         "127.0.0.1\n"},
        {"HashKnownHosts", "HashKnownHosts yes\n"},
        {"Match host sees HostName",
         "HostName real.example.com\nMatch host real.*\n User a\nMatch host gpu*\n User b\n"},
        {"Match host sees %h", "Host gpu*\n HostName %h.a\nMatch host GPU01.A,x\n User a\n"},
        {"Match originalhost sees the name",
         "HostName real\nMatch originalhost gpu*\n User a\n",
         {{"gpu01"}, {"GPU01"}}},
        {"Match user",
         "Match user alice\n Port 24\nMatch user root\n Port 25\n",
         {{"gpu01"}, {"gpu01", "alice"}}},
        {"Match user sees User", "User alice\nMatch user a*,!alice\n Port 24\nMatch !user bob\n Port 25\n"},
        {"Match localuser", "Match localuser root,admin\n Port 24\nMatch all\n Port 25\n"},
        {"Match has several criteria", "Match host gpu* user root,alice !localuser bob\n Port 24\n"},
        {"Match is negated", "Match !host gpu*\n Port 24\nMatch host *,!login1\n User a\n"},
        {"Match with equals signs, quotes and a comment",
         "Match host=gpu01 \"user\" \"root\" # localuser x\n Port 24\n"},
        {"Match all", "Host login1\nUser a\nMatch all\n User b\nMatch !all\n Port 24\n"},
        {"Match host and all", "Match host gpu01 all\n Port 24\n"},
        {"Match final",
         "Match final\n User a\nHost gpu01\n HostName real\nMatch final host real\n Port 24\n"},
        {"Match final reads Host again",
         "Host real\n IdentityFile k1\n Port 24\nHost gpu01\n HostName REAL\n IdentityFile k2\nMatch final "
         "all\n"},
        {"Match canonical", "Match canonical\n User a\n"},
        {"Match canonical beside final", "Match canonical\n User a\nMatch !final\n Port 24\n"},
        {"Include",
         "Include DIR/one DIR/none DIR/two.*\nUser z\n",
         {{"gpu01"}, {"login1"}},
         {{"one", "Host gpu*\n User a\n"}, {"two.a", "Port 24\n"}, {"two.b", "Port 25\nHostKeyAlias b\n"}}},
        {"Include inside of Host",
         "Host login1\n Include DIR/one\n Port 24\nHost *\n User z\n",
         {{"gpu01"}, {"login1"}},
         {{"one",
           "HostKeyAlias a\nHost gpu*\n User a\nHost login*\n User b\nMatch all\n ConnectTimeout 5\n"}}},
        {"after an Include its section goes on",
         "Host gpu01\n Include DIR/one\n Port 24\n",
         {{"gpu01"}, {"login1"}},
         {{"one", "Host login1\n User a\n"}}},
        {"Include inside of Match",
         "Match host gpu*\n Include DIR/one\n Include DIR/one\n User b\n",
         {{"gpu01"}, {"login1"}},
         {{"one", "Match user root\n Port 24\n"}}},
        {"Include in an Include",
         "Include DIR/one\n",
         {{"gpu01"}, {"login1"}},
         {{"one", "Host gpu*\n Include DIR/two\nHost *\n User c\n"}, {"two", "User a\nHost *1\n Port 24\n"}}},
        {"Include of nothing", "Include nothing-of-this-name ~nobody-of-this-name/x\nUser a\n"},
        {"IgnoreUnknown", "IgnoreUnknown use*,Foo\nUseKeychain yes\nfoo bar\nUser a\n"},
        {"what changes nothing here",
         "ForwardAgent yes\nSendEnv LANG LC_*\nControlMaster auto\nControlPath ~/x\nControlPersist 10m\n"
         "LocalForward 80 a:80\nLogLevel QUIET\nGSSAPIAuthentication yes\nRSAAuthentication yes\nUser a\n"},
        {"SetupTimeOut and ProtocolKeepAlives", "SetupTimeOut 5\nProtocolKeepAlives 7\n"},
    };
    return all;
}

const std::vector<Row>& refused() {
    static const std::vector<Row> all{
        {"a keyword without a value", "User\n"},
        {"an empty value", "User \"\"\n"},
        {"too many values", "User a b\n"},
        {"a value that is a comment", "User # a\n"},
        {"a quote without its end", "User \"a\n"},
        {"a quote without its end in a command", "ProxyCommand it's\n"},
        {"an unknown keyword", "Foo bar\n"},
        {"an unknown keyword of another host", "Host x\n Foo bar\n"},
        {"a port of 0", "Port 0\n"},
        {"a port that is too large", "Port 65536\n"},
        {"a port that is hexadecimal", "Port 0x16\n"},
        {"a time that is none", "ConnectTimeout 1x\n"},
        {"a time below 0", "ServerAliveInterval -1\n"},
        {"a time that is too large", "ConnectTimeout 99999999999\n"},
        {"a count that is none", "ServerAliveCountMax many\n"},
        {"a flag that is none", "BatchMode maybe\n"},
        {"a choice that is none", "StrictHostKeyChecking maybe\n"},
        {"a jump without a host", "ProxyJump a,\n"},
        {"a jump to port 0", "ProxyJump a:0\n"},
        {"none beside files", "UserKnownHostsFile none a\n"},
        {"an unknown token in HostName", "HostName %p\n"},
        {"an unknown token in a file", "UserKnownHostsFile %q\n"},
        {"a variable that is not set", "UserKnownHostsFile ${NOT_SET_HERE}\n"},
        {"a variable without its end", "IdentityAgent ${HOME\n"},
        {"a variable's name that is none", "IdentityAgent $A-B\n"},
        {"Match without a criterion", "Match\n"},
        {"Match without a pattern", "Match host\n"},
        {"Match with an unknown criterion", "Match moon full\n"},
        {"Match all with another criterion behind it", "Match all host a\n"},
        {"Host with an empty pattern", "Host \"\"\n"},
        {"Include of an empty name", "Include \"\"\n"},
        {"an Include that includes itself", "Include DIR/one\n", {{"gpu01"}}, {{"one", "Include DIR/one\n"}}},
        {"a fault in an Include", "Host x\n Include DIR/one\n", {{"gpu01"}}, {{"one", "Foo bar\n"}}},
    };
    return all;
}

class SshConfigTest : public testing::Test {
  protected:
    void SetUp() override {
        const std::string why = no_ssh_here();
        if (!why.empty()) GTEST_SKIP() << why;
    }

    std::string write(const Row& row) {
        for (const auto& [name, text] : row.files) write_file(folder_.path(name), in_folder(text, folder()));
        write_file(folder_.path("config"), in_folder(row.config, folder()));
        return folder_.path("config");
    }
    std::string folder() const {
        const std::string path = folder_.path("");
        return path.substr(0, path.size() - 1);
    }

    TemporaryFolder folder_;
};

TEST_F(SshConfigTest, WhatSshDecidesIsDecidedHere) {
    std::size_t compared = 0, told_apart = 0;
    const Decided plain = decided_by_ssh("none", {"gpu01"});
    ASSERT_TRUE(plain);
    for (const Row& row : rows()) {
        const std::string file = write(row);
        bool says_something = false;
        for (const Asked& asked : row.asked) {
            SCOPED_TRACE(std::string(row.about) + ", host " + asked.host + "\n" + row.config);
            const Decided by_ssh = decided_by_ssh(file, asked);
            std::string why;
            const Decided here = decided_by_cleanslate(file, asked, why);
            ASSERT_TRUE(by_ssh) << "ssh refuses it";
            ASSERT_TRUE(here) << why;
            EXPECT_EQ(here->size(), compared_keywords().size());
            for (const auto& keyword : compared_keywords())
                EXPECT_EQ(here->at(keyword), by_ssh->at(keyword)) << keyword;
            ++compared;
            says_something = says_something || *by_ssh != *plain;
        }
        told_apart += says_something ? 1 : 0;
    }
    EXPECT_GE(compared, 150u);
    EXPECT_GE(told_apart, 80u) << "too few configurations change anything";
}

TEST_F(SshConfigTest, WhatSshRefusesIsRefusedHereWithItsPlace) {
    for (const Row& row : refused()) {
        SCOPED_TRACE(std::string(row.about) + "\n" + row.config);
        const std::string file = write(row);
        EXPECT_FALSE(decided_by_ssh(file, {"gpu01"})) << "ssh takes it";
        std::string why;
        EXPECT_FALSE(decided_by_cleanslate(file, {"gpu01"}, why)) << "it is taken here";
        EXPECT_THAT(why, testing::ContainsRegex(folder_.path("[a-z]*:[0-9]+: "))) << why;
    }
}

}  // namespace
}  // namespace cleanslate::agentless::contract
