#include "agentless/ssh/host_settings.hpp"

#include <gmock/gmock.h>

#include "tests/unit/agentless/ssh_config_file.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Endpoint gpu01() { return {.name = "gpu01", .address = "gpu01", .user = {}, .identity_file = {}}; }

SshOptions laptop() {
    SshOptions options;
    options.home = "/home/op";
    options.local_user = "op";
    options.agent_socket = "/run/agent";
    return options;
}

Result<HostSettings> decide(const std::string& text, const Endpoint& endpoint = gpu01(),
                            const SshOptions& options = laptop()) {
    const auto config = config_of(text);
    if (!config) return std::unexpected(config.error());
    return settings_for(endpoint, options, *config);
}

HostSettings decided(const std::string& text, const Endpoint& endpoint = gpu01(),
                     const SshOptions& options = laptop()) {
    const auto settings = decide(text, endpoint, options);
    EXPECT_TRUE(settings) << settings.error().message;
    return settings.value_or(HostSettings());
}

TEST(HostSettings, HaveDefaultsWhereNobodySaysAnything) {
    const HostSettings plain = decided("");
    EXPECT_EQ(plain.alias, "gpu01");
    EXPECT_EQ(plain.host_name, "gpu01");
    EXPECT_EQ(plain.port, 22);
    EXPECT_EQ(plain.user, "op");
    EXPECT_THAT(plain.identity_files,
                ElementsAre("/home/op/.ssh/id_ed25519", "/home/op/.ssh/id_ecdsa", "/home/op/.ssh/id_rsa"));
    EXPECT_FALSE(plain.identities_named || plain.identities_only);
    EXPECT_EQ(plain.agent_socket, "/run/agent");
    EXPECT_THAT(plain.methods,
                ElementsAre(AuthMethod::publickey, AuthMethod::keyboard_interactive, AuthMethod::password));
    EXPECT_THAT(plain.user_known_hosts,
                ElementsAre("/home/op/.ssh/known_hosts", "/home/op/.ssh/known_hosts2"));
    EXPECT_THAT(plain.global_known_hosts,
                ElementsAre("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"));
    EXPECT_EQ(plain.host_keys, HostKeyPolicy::strict);
    EXPECT_THAT(plain.proxy_jump, IsEmpty());
}

TEST(HostSettings, AFlagWinsOverTheInventoryAndThatOverTheConfiguration) {
    const std::string text =
        "User carol\nPort 24\nIdentityFile k3\nConnectTimeout 7\nStrictHostKeyChecking accept-new\n"
        "UserKnownHostsFile u\nGlobalKnownHostsFile g\nIdentityAgent /a\nProxyJump j3\n";
    const HostSettings configured = decided(text);
    EXPECT_EQ(configured.user, "carol");
    EXPECT_EQ(configured.port, 24);
    EXPECT_THAT(configured.identity_files, ElementsAre("k3"));
    EXPECT_FALSE(configured.identities_named || configured.identities_only);
    EXPECT_EQ(configured.connect_timeout, Milliseconds(7'000));
    EXPECT_EQ(configured.host_keys, HostKeyPolicy::accept_new);
    EXPECT_THAT(configured.user_known_hosts, ElementsAre("u"));
    EXPECT_EQ(configured.agent_socket, "/a");
    EXPECT_THAT(configured.proxy_jump, ElementsAre("j3"));

    Endpoint host = gpu01();
    host.user = "bob";
    host.port = 23;
    host.identity_file = "k2";
    host.proxy_jump = "j1,j2:2200";
    const HostSettings listed = decided(text, host);
    EXPECT_EQ(listed.user, "bob");
    EXPECT_EQ(listed.port, 23);
    EXPECT_THAT(listed.identity_files, ElementsAre("k2"));
    EXPECT_TRUE(listed.identities_named && listed.identities_only);
    EXPECT_THAT(listed.proxy_jump, ElementsAre("j1", "j2:2200"));

    SshOptions flags = laptop();
    flags.user = "alice";
    flags.identity_files = {"k1", "k0"};
    flags.connect_timeout = Milliseconds(500);
    flags.host_keys = HostKeyPolicy::strict;
    flags.known_hosts = {"f"};
    const HostSettings flagged = decided(text, gpu01(), flags);
    EXPECT_EQ(flagged.user, "alice");
    EXPECT_THAT(flagged.identity_files, ElementsAre("k1", "k0"));
    EXPECT_TRUE(flagged.identities_named && flagged.identities_only);
    EXPECT_EQ(flagged.connect_timeout, Milliseconds(500));
    EXPECT_EQ(flagged.host_keys, HostKeyPolicy::strict);
    EXPECT_THAT(flagged.user_known_hosts, ElementsAre("f"));
    EXPECT_THAT(flagged.global_known_hosts, IsEmpty()) << "in place of all others";
}

TEST(HostSettings, OptionsOfSshInTheInventoryStandBetweenFlagsAndTheConfiguration) {
    const std::string text =
        "ConnectTimeout 7\nStrictHostKeyChecking yes\nUserKnownHostsFile u\nGlobalKnownHostsFile g\n";
    inventory::SshSettings said;
    said.more_identity_files = {"k2"};
    said.known_hosts = {"mine"};
    said.host_keys = inventory::HostKeyTrust::off;
    said.connect_timeout = Milliseconds{3'000};
    Endpoint endpoint = gpu01();
    endpoint.identity_file = "k1";
    endpoint.ssh = std::make_shared<const inventory::SshSettings>(said);
    const HostSettings settings = decided(text, endpoint);
    EXPECT_THAT(settings.identity_files, ElementsAre("k1", "k2"));
    EXPECT_THAT(settings.user_known_hosts, ElementsAre("mine"));
    EXPECT_THAT(settings.global_known_hosts, ElementsAre("g"));
    EXPECT_EQ(settings.host_keys, HostKeyPolicy::off);
    EXPECT_EQ(settings.connect_timeout, Milliseconds{3'000});

    SshOptions flags = laptop();
    flags.known_hosts = {"flagged"};
    flags.host_keys = HostKeyPolicy::strict;
    flags.connect_timeout = Milliseconds{2'000};
    flags.identity_files = {"kf"};
    endpoint.identity_file.clear();  // as the command line does where it names keys
    const HostSettings flagged = decided(text, endpoint, flags);
    EXPECT_THAT(flagged.identity_files, ElementsAre("kf"));
    EXPECT_THAT(flagged.user_known_hosts, ElementsAre("flagged"));
    EXPECT_EQ(flagged.host_keys, HostKeyPolicy::strict);
    EXPECT_EQ(flagged.connect_timeout, Milliseconds{2'000});
}

TEST(HostSettings, AskIsStrictSinceNobodyIsAsked) {
    EXPECT_EQ(decided("StrictHostKeyChecking ask\n").host_keys, HostKeyPolicy::strict);
    EXPECT_EQ(decided("StrictHostKeyChecking yes\n").host_keys, HostKeyPolicy::strict);
    EXPECT_EQ(decided("StrictHostKeyChecking no\n").host_keys, HostKeyPolicy::off);
    EXPECT_EQ(decided("StrictHostKeyChecking off\n").host_keys, HostKeyPolicy::off);
}

TEST(HostSettings, KeysAndFilesMayBeNone) {
    EXPECT_THAT(decided("IdentityFile none\n").identity_files, IsEmpty());
    EXPECT_THAT(decided("UserKnownHostsFile none\n").user_known_hosts, IsEmpty());
    EXPECT_EQ(decided("IdentityAgent none\n").agent_socket, "");
    EXPECT_TRUE(decided("IdentitiesOnly yes\n").identities_only);
    EXPECT_FALSE(decided("IdentitiesOnly yes\n").identities_named);
}

TEST(HostSettings, EveryWaitHasALimit) {
    EXPECT_EQ(decided("ConnectTimeout 0\n").connect_timeout, HostSettings().connect_timeout);
    EXPECT_EQ(decided("ConnectTimeout none\n").connect_timeout, HostSettings().connect_timeout);
    EXPECT_EQ(decided("").alive_interval, HostSettings().alive_interval);
    EXPECT_EQ(decided("ServerAliveInterval 0\n").alive_interval, Milliseconds(0)) << "a statement";
}

TEST(HostSettings, WaysToLogInAreThoseEnabledInThePreferredOrder) {
    EXPECT_THAT(decided("PreferredAuthentications password,gssapi-with-mic,publickey,password\n").methods,
                ElementsAre(AuthMethod::password, AuthMethod::publickey));
    EXPECT_THAT(decided("PubkeyAuthentication no\nPasswordAuthentication no\n").methods,
                ElementsAre(AuthMethod::keyboard_interactive));
    EXPECT_THAT(decided("BatchMode yes\n").methods, ElementsAre(AuthMethod::publickey));
    const auto none = decide("PreferredAuthentications hostbased\n");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().phase, "resolve");
    EXPECT_EQ(none.error().message,
              "ssh's configuration leaves this host no way to log in that is known here");
}

TEST(HostSettings, TheInventorysJumpWinsOverBothOfTheConfiguration) {
    Endpoint host = gpu01();
    host.proxy_jump = "none";
    EXPECT_THAT(decided("ProxyJump a\n", host).proxy_jump, IsEmpty());
    EXPECT_EQ(decided("ProxyCommand nc %h\n", host).proxy_command, "");
    host.proxy_jump = "b";
    EXPECT_THAT(decided("ProxyCommand nc %h\n", host).proxy_jump, ElementsAre("b"));
    EXPECT_EQ(decided("ProxyCommand nc %h\n", host).proxy_command, "");
}

TEST(HostSettings, ACommandThatIsAJumpIsAJump) {
    const HostSettings jump =
        decided("HostName real\nPort 2200\nProxyCommand ssh -q -W %h:%p root@bastion\n");
    EXPECT_THAT(jump.proxy_jump, ElementsAre("root@bastion"));
    EXPECT_EQ(jump.proxy_command, "");
    const HostSettings command = decided("ProxyCommand relay %h %p\n");
    EXPECT_EQ(command.proxy_command, "relay gpu01 22");
    EXPECT_THAT(command.proxy_jump, IsEmpty());
}

TEST(HostSettings, HostKeysAreLookedUpByTheAlias) {
    EXPECT_EQ(decided("HostKeyAlias Cluster\n").host_key_alias, "cluster") << "in small letters, as in ssh";
    EXPECT_EQ(decided("").host_key_alias, "");
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
