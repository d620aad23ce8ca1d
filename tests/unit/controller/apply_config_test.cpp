#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"
#include "controller/settings.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WithConfig : public ::testing::Test {
  protected:
    // What a command line is read as where this is the site's file.
    std::expected<Options, EarlyEnd> read_with(const std::string& config, const Words& words,
                                               const Environment& environment = {}) const {
        put(folder_.file("config.yaml"), config);
        return read_command_line(words, environment, folder_.file("config.yaml"));
    }
    Options with(const std::string& config, const Words& words, const Environment& environment = {}) const {
        const auto options = read_with(config, words, environment);
        EXPECT_TRUE(options) << (options ? "" : options.error().err);
        return options.value_or(Options{});
    }
    TemporaryFolder folder_;
};

TEST_F(WithConfig, DefaultsHoldUnlessAnOptionIsGiven) {
    const std::string config = "fanout: 7\nplaybook: sweep\ndeadline: 2h\ncolor: never\nthreads: 2\n";
    const Options plain = with(config, {"clear", "-H", "gpu01"});
    EXPECT_EQ(plain.limits.fanout, 7);
    EXPECT_EQ(plain.playbook, "sweep");
    EXPECT_EQ(plain.limits.deadline, Milliseconds{7'200'000});
    EXPECT_EQ(plain.color, ColorMode::never);
    const Options given = with(config, {"clear", "-H", "gpu01", "-f", "9", "-p", "clear", "--deadline=1h",
                                        "--color", "always", "--threads", "1"});
    EXPECT_EQ(given.limits.fanout, 9);
    EXPECT_EQ(given.playbook, "clear");
    EXPECT_EQ(given.limits.deadline, Milliseconds{3'600'000});
    EXPECT_EQ(given.color, ColorMode::always);
    EXPECT_EQ(given.limits.threads, 1);
}

TEST_F(WithConfig, WhatACommandDoesNotHaveIsPassedOver) {
    const std::string config = "playbook: sweep\nmax-kills: 3\nformat: [csv]\nbaseline-margin: 5MiB\n";
    EXPECT_EQ(with(config, {"check", "-H", "gpu01"}).max_kills, std::nullopt);
    EXPECT_EQ(with(config, {"playbooks"}).playbook, "") << "that is another name";
    EXPECT_EQ(with(config, {"run", "-H", "gpu01", "--", "true"}).formats[0].format, Format::text);
    EXPECT_EQ(with(config, {"report", "show", "x"}).formats[0].format, Format::text);
    EXPECT_EQ(with(config, {"check", "-H", "gpu01"}).formats[0].format, Format::csv);
    EXPECT_EQ(with("max-used: 5GiB", {"baseline", "--local", "-o", "x"}).most_idle, Mebibytes{500});
}

TEST_F(WithConfig, ListsThatGrowGrowAndOthersAreReplaced) {
    const std::string config = "protect: [ours]\nunprotect: gdm\nknown-hosts: [/a, /b]\n";
    const Options options = with(
        config, {"clear", "-H", "gpu01", "--protect", "mine", "--protect", "more", "--known-hosts", "c"});
    EXPECT_THAT(options.protect, ElementsAre("ours", "mine", "more"));
    EXPECT_THAT(options.unprotect, ElementsAre("gdm"));
    EXPECT_THAT(options.known_hosts, ElementsAre("c"));
    EXPECT_THAT(with(config, {"check", "-H", "gpu01"}).known_hosts, ElementsAre("/a", "/b"));
}

TEST_F(WithConfig, TheInventoryIsBeneathTheEnvironmentAndBesideNoOtherHosts) {
    const std::string config = "inventory: /etc/fleet.yaml\n";
    EXPECT_THAT(with(config, {"check"}).inventories, ElementsAre("/etc/fleet.yaml"));
    EXPECT_THAT(with(config, {"check"}, {{"CLEANSLATE_INVENTORY", "env.yaml"}}).inventories,
                ElementsAre("env.yaml"));
    EXPECT_THAT(with(config, {"check"}, {{"CLEANSLATE_INVENTORY", ""}}).inventories,
                ElementsAre("/etc/fleet.yaml"));
    EXPECT_THAT(with(config, {"check", "-i", "mine.yaml"}).inventories, ElementsAre("mine.yaml"));
    EXPECT_THAT(with(config, {"check", "-H", "gpu01"}).inventories, IsEmpty());
    EXPECT_THAT(with(config, {"check", "--local"}).inventories, IsEmpty());
    EXPECT_THAT(with(config, {"history"}).inventories, IsEmpty()) << "there it is a filter";
    const auto without_limit = read_with(config, {"clear"});
    ASSERT_FALSE(without_limit);
    EXPECT_THAT(without_limit.error().err, HasSubstr("-l all"));
}

TEST_F(WithConfig, WhatAnInventoryMaySayBetterWaitsForItsWord) {
    const std::string config = "user: fleet\njump: bastion\nidentity: [/id]\nmax-used: 300MiB\n";
    const Options options = with(config, {"check", "-H", "gpu01"});
    EXPECT_EQ(options.user, std::nullopt);
    EXPECT_EQ(options.beneath.user, "fleet");
    EXPECT_EQ(options.beneath.jump, "bastion");
    EXPECT_THAT(options.beneath.identities, ElementsAre("/id"));
    EXPECT_EQ(options.beneath.max_used, Mebibytes{300});
    const Options given = with(
        config, {"check", "-H", "gpu01", "-u", "me", "-J", "none", "--identity", "k", "--max-used", "1MiB"});
    EXPECT_EQ(given.user, "me");
    EXPECT_EQ(given.jump, "none");
    EXPECT_THAT(given.identities, ElementsAre("k"));
    EXPECT_EQ(given.max_used, Mebibytes{1});
    EXPECT_EQ(given.beneath.user, std::nullopt);
    EXPECT_EQ(with(config, {"parse"}).max_used, Mebibytes{300});
    EXPECT_EQ(with(config, {"parse", "--baseline", "x"}).max_used, std::nullopt);
}

TEST_F(WithConfig, NewHostKeysAreAcceptedWhereTheInventorySaysNothingAndStrictHoldsForAll) {
    const Options accept = with("host-key-check: accept-new\n", {"check", "-H", "gpu01"});
    EXPECT_EQ(accept.host_key_check, std::nullopt);
    inventory::Host host;
    const auto trust_of = [&] { return task_for(host, accept, {}, nullptr).host.ssh->host_keys; };
    EXPECT_EQ(trust_of(), inventory::HostKeyTrust::accept_new);
    inventory::SshSettings said;
    said.host_keys = inventory::HostKeyTrust::strict;
    host.ssh = std::make_shared<const inventory::SshSettings>(said);
    EXPECT_EQ(trust_of(), inventory::HostKeyTrust::strict);
    EXPECT_EQ(with("host-key-check: strict\n", {"check", "-H", "gpu01"}).host_key_check,
              agentless::HostKeyCheck::strict);
}

TEST_F(WithConfig, TheHistoryIsThatOfEveryCommandAndAction) {
    const std::string config = "history: /var/h.db\naudit: /var/a.jsonl\n";
    EXPECT_EQ(with(config, {"check", "-H", "gpu01"}).history, "/var/h.db");
    EXPECT_EQ(with(config, {"check", "-H", "gpu01", "--no-history"}).no_history, true);
    EXPECT_EQ(with(config, {"history"}).history, "/var/h.db");
    EXPECT_EQ(with(config, {"history", "show", "last"}).history, "/var/h.db");
    EXPECT_EQ(with(config, {"history", "show", "--history", "x", "last"}).history, "x");
    EXPECT_EQ(with(config, {"history", "--history", "x", "show", "last"}).history, "x");
    EXPECT_EQ(with(config, {"audit"}).audit, "/var/a.jsonl");
    EXPECT_EQ(with(config, {"clear", "-H", "gpu01"}).audit, "/var/a.jsonl");
}

TEST_F(WithConfig, AListOnStdoutTakesThePlaceOfADefaultReport) {
    const std::string config = "format: [json, html=/var/f.html]\n";
    const Options options = with(config, {"check", "-H", "gpu01", "--clean-hosts", "-"});
    ASSERT_EQ(options.formats.size(), 1u);
    EXPECT_EQ(options.formats[0].format, Format::html);
    EXPECT_FALSE(read_with(config, {"check", "-H", "gpu01", "--format", "json", "--clean-hosts", "-"}));
}

TEST_F(WithConfig, ThatIsBrokenEndsWithTwoAndItsPlace) {
    for (const Words& words : {Words{"check", "--local"}, Words{"hosts", "-H", "a"}, Words{"history"}}) {
        const auto end = read_with("fanout: 3\nyes: true\n", words);
        ASSERT_FALSE(end);
        EXPECT_EQ(end.error().exit_status, 2);
        EXPECT_THAT(end.error().err, HasSubstr("config.yaml:2:1: `yes` is no setting of a file"));
        EXPECT_EQ(end.error().out, "");
    }
    EXPECT_THAT(read_with("max-kills: lots", {"check", "--local"}).error().err, HasSubstr(":1:12: max-kills"))
        << "also where this command does not have the option";
}

TEST_F(WithConfig, ThatIsBrokenLeavesHelpVersionConfigAndWhatExplainsAlone) {
    for (const Words& words : {Words{"--help"}, Words{"--version"}, Words{"check", "--help"}})
        EXPECT_EQ(read_with("yes: true\n", words).error().exit_status, 0);
    for (const Words& words : {Words{"config"}, Words{"explain"}, Words{"playbooks"}})
        EXPECT_TRUE(read_with("yes: true\n", words));
    EXPECT_TRUE(read_with("yes: true\n", {"check", "--local", "--config", "none"}));
}

TEST_F(WithConfig, AFlagCanBeADefault) {
    EXPECT_TRUE(with("require-holders: true", {"check", "--local"}).require_holders);
    EXPECT_FALSE(with("require-holders: false", {"check", "--local"}).require_holders);
    EXPECT_TRUE(with("require-holders: false", {"check", "--local", "--require-holders"}).require_holders);
}

}  // namespace
}  // namespace cleanslate::controller::testing
