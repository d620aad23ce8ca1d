#include "agentless/ssh/ssh_config.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "tests/unit/agentless/ssh_config_file.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Files = std::vector<std::string>;

ConfigValues values(const SshConfig& config, const ConfigQuery& query = {"gpu01"}) {
    const auto values = config.values_for(query);
    EXPECT_TRUE(values) << values.error().message;
    return values.value_or(ConfigValues());
}

ConfigValues values(const std::string& text, const ConfigQuery& query = {"gpu01"}) {
    const auto config = config_of(text);
    EXPECT_TRUE(config) << config.error().message;
    return config ? values(*config, query) : ConfigValues();
}

Error error_for(const std::string& text, const ConfigQuery& query = {"gpu01"}) {
    const auto config = config_of(text);
    EXPECT_TRUE(config) << config.error().message;
    const auto values = config->values_for(query);
    EXPECT_FALSE(values);
    return values ? Error{} : values.error();
}

TEST(SshConfig, SaysNothingWhereNothingIsConfigured) {
    const ConfigValues nothing = values(SshConfig());
    EXPECT_EQ(nothing.host_name, "gpu01");
    EXPECT_FALSE(nothing.user || nothing.port || nothing.proxy_jump || nothing.user_known_hosts);
    EXPECT_FALSE(nothing.identity_files_given);
    EXPECT_THAT(SshConfig().notes(), IsEmpty());
    EXPECT_EQ(values("").host_name, "gpu01");
    EXPECT_EQ(values(SshConfig(), {"GPU01"}).host_name, "gpu01") << "as in ssh";
}

TEST(SshConfig, ReadsLikeAFleetsFile) {
    const auto config = config_of(
        "Host gpu01 gpu02\n  Port 2200\n"
        "Host gpu*\n  HostName %h.cluster\n  User root\n  IdentityFile ~/.ssh/fleet\n  ProxyJump op@bastion\n"
        "Host bastion\n  HostName 192.0.2.7\n  IdentitiesOnly yes\n"
        "Host *\n  IdentityFile ~/.ssh/id_%r\n  ConnectTimeout 5\n  ServerAliveInterval 15\n");
    ASSERT_TRUE(config) << config.error().message;
    const ConfigValues gpu = values(*config);
    EXPECT_EQ(gpu.host_name, "gpu01.cluster");
    EXPECT_EQ(gpu.port, 2200);
    EXPECT_EQ(gpu.user, "root");
    EXPECT_THAT(gpu.identity_files, ElementsAre("/home/op/.ssh/fleet", "/home/op/.ssh/id_root"));
    EXPECT_EQ(gpu.proxy_jump, "op@bastion");
    EXPECT_EQ(gpu.connect_timeout, Milliseconds(5'000));
    EXPECT_EQ(gpu.alive_interval, Milliseconds(15'000));
    const ConfigValues bastion = values(*config, {"bastion"});
    EXPECT_EQ(bastion.host_name, "192.0.2.7");
    EXPECT_EQ(bastion.identities_only, true);
    EXPECT_THAT(bastion.identity_files, ElementsAre("/home/op/.ssh/id_op"));
    EXPECT_EQ(bastion.proxy_jump, std::nullopt);
}

TEST(SshConfig, OneNameAmongThousandsOfHostBlocksIsFoundInItsPlace) {
    std::string text = "Host gpu7 gpu*\n Port 1\n";
    for (int i = 0; i < 3'000; ++i)
        text += "Host gpu" + std::to_string(i) + " alias" + std::to_string(i) + "\n User u" +
                std::to_string(i) + "\n Port " + std::to_string(2'000 + i) + "\n";
    text += "Host *\n User nobody\n";
    const auto config = config_of(text);
    ASSERT_TRUE(config);
    EXPECT_EQ(values(*config, {"gpu2999"}).user, "u2999");
    EXPECT_EQ(values(*config, {"gpu2999"}).port, 1) << "an earlier pattern wins";
    EXPECT_EQ(values(*config, {"alias2999"}).port, 4'999);
    EXPECT_EQ(values(*config, {"other"}).user, "nobody");
}

TEST(SshConfig, UserAndPortOfTheQueryWinAndAreSeenByMatchAndTokens) {
    const std::string text =
        "Match user alice\n Port 24\nMatch all\nUser bob\nPort 25\nMatch all\nIdentityFile %r-%p\n";
    EXPECT_THAT(values(text).identity_files, ElementsAre("bob-25"));
    EXPECT_THAT(values(text, {"gpu01", "alice"}).identity_files, ElementsAre("alice-24"));
    EXPECT_THAT(values(text, {"gpu01", "alice", 2200}).identity_files, ElementsAre("alice-2200"));
}

TEST(SshConfig, NoneIsNotAbsent) {
    EXPECT_TRUE(values("IdentityFile none\n").identity_files_given);
    EXPECT_THAT(values("IdentityFile none\n").identity_files, IsEmpty());
    EXPECT_EQ(values("UserKnownHostsFile none\n").user_known_hosts, Files{});
    EXPECT_EQ(values("IdentityAgent none\n").identity_agent, "");
    EXPECT_EQ(values("IdentityAgent SSH_AUTH_SOCK\nIdentityAgent /a\n").identity_agent, std::nullopt);
    EXPECT_EQ(values("ProxyJump none\nProxyJump a\n").proxy_jump, std::nullopt);
    EXPECT_EQ(values("CertificateFile none\n").certificate_files, Files{});
}

TEST(SshConfig, WhatCannotBeExpandedIsAnErrorOfItsHostWithThePlace) {
    const std::string text =
        "Host a\n HostName %p\nHost b\n IdentityFile %z\nHost c\n UserKnownHostsFile ${NOT_SET_HERE}\n";
    EXPECT_THAT(error_for(text, {"a"}).message, testing::EndsWith("/c:2: HostName: unknown token %p"));
    EXPECT_THAT(error_for(text, {"b"}).message, testing::EndsWith("/c:4: IdentityFile: unknown token %z"));
    const Error error = error_for(text, {"c"});
    EXPECT_THAT(
        error.message,
        testing::EndsWith("/c:6: UserKnownHostsFile: the environment variable ${NOT_SET_HERE} is not set"));
    EXPECT_EQ(error.kind, "usage");
    EXPECT_EQ(error.phase, "resolve");
    EXPECT_EQ(values(text, {"d"}).host_name, "d");
}

TEST(SshConfig, NamesThatAShellWouldActOnDoNotGetIntoACommand) {
    const std::string text = "ProxyCommand relay %h %r\n";
    EXPECT_EQ(values(text, {"gpu01", "root"}).proxy_command, "relay gpu01 root");
    EXPECT_THAT(error_for(text, {"gpu01", "$(id)"}).message,
                testing::EndsWith("/c:1: ProxyCommand: %r is \"$(id)\", which means something to a shell"));
    EXPECT_EQ(values("ProxyCommand relay %h\n", {"gpu01", "$(id)"}).proxy_command, "relay gpu01");
}

TEST(SshConfig, TheAddressToConnectFromIsAnAddress) {
    EXPECT_EQ(values("BindAddress fe80::1%lo\n").bind_address, "fe80::1%lo");
    EXPECT_THAT(error_for("BindAddress myself\n").message,
                testing::EndsWith("/c:1: BindAddress: \"myself\" is no IP address"));
    EXPECT_EQ(values("AddressFamily Inet\n").address_family, "inet");
}

TEST(SshConfig, AHostThatMustNotBeReachedIsNot) {
    EXPECT_THAT(error_for("Host gpu*\n RefuseConnection \"under repair\"\n").message,
                testing::EndsWith("/c:2: RefuseConnection: under repair"));
}

TEST(SshConfig, WhatSshWouldDoAndIsNotDoneHereIsSaidOnceForTheHostsThatAreAskedAbout) {
    const auto config = config_of(
        "Host gpu*\n CanonicalizeHostname yes\n ForwardAgent yes\nHost gpu02\n CanonicalizeHostname yes\n"
        "Host login*\n PKCS11Provider /lib/x.so\nHost *\n ProxyUseFdpass no\n");
    ASSERT_TRUE(config);
    EXPECT_THAT(config->notes(), IsEmpty()) << "nobody was asked about";
    values(*config, {"gpu01"});
    values(*config, {"gpu02"});
    EXPECT_THAT(config->notes(),
                ElementsAre(testing::EndsWith(
                    "/c:2: CanonicalizeHostname is passed over: names are used as they are")));
    values(*config, {"login1"});
    EXPECT_EQ(config->notes().size(), 2u);
}

TEST(SshConfig, DebiansOwnFileIsUnderstoodWithoutANote) {
    const auto config = config_of(
        "Include /etc/ssh/ssh_config.d/none-of-these-*.conf\n\nHost *\n#   ForwardAgent no\n"
        "    SendEnv LANG LC_*\n    HashKnownHosts yes\n    GSSAPIAuthentication yes\n");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(values(*config).hash_known_hosts, true);
    EXPECT_THAT(config->notes(), IsEmpty());
}

TEST(SshConfig, IsAskedFromManyThreads) {
    const auto config =
        config_of("Host gpu*\n KexAlgorithms x\n IdentityFile ~/%h\nMatch final\n User root\n");
    ASSERT_TRUE(config);
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&config, &right] {
            for (int i = 0; i < 200; ++i) {
                const std::string name = "gpu" + std::to_string(i);
                const auto found = config->values_for({name});
                if (found && found->user == "root" && found->identity_files == Files{"/home/op/" + name})
                    ++right;
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(right, 800);
    EXPECT_EQ(config->notes().size(), 1u);
}

TEST(SshConfig, AFileThatWasNamedMustBeThere) {
    const auto named = SshConfig::load({"/nonexistent/config"}, true, "/home/op", "op");
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().message, "/nonexistent/config: there is no such file");
    EXPECT_TRUE(SshConfig::load({"/nonexistent/config"}, false, "/home/op", "op"));
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
