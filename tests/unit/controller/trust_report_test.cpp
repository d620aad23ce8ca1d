#include "controller/trust_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace cleanslate::controller::testing {
namespace {

using namespace agentless;
using Standing = ShownHostKey::Standing;
using ::testing::HasSubstr;
using ::testing::Not;

ShownHostKey key(Standing standing, const std::string& secret, const std::string& type = "ssh-ed25519") {
    ShownHostKey shown;
    shown.type = type;
    shown.fingerprint = "SHA256:" + secret;
    shown.blob = type + secret;
    shown.standing = standing;
    if (standing != Standing::known && standing != Standing::unknown) {
        shown.place = "known_hosts:7";
        shown.known_fingerprint = "SHA256:old";
        shown.problem = Error{"host_key_changed", "host-key", "its host key has changed", "look at it"};
    }
    return shown;
}
ShownHostKey added(const std::string& secret) {
    ShownHostKey shown = key(Standing::known, secret);
    shown.added = true;
    return shown;
}
ScannedHost host(const std::string& name, std::vector<ShownHostKey> keys) {
    ScannedHost seen;
    seen.name = name;
    seen.address = name + ".example.com";
    seen.keys = std::move(keys);
    return seen;
}
ScannedHost unreachable(const std::string& name) {
    ScannedHost seen = host(name, {});
    seen.error = Error{"connect_refused", "connect", "nobody listens", "is sshd running?"};
    return seen;
}
TrustReport report(std::vector<ScannedHost> hosts) {
    TrustReport all;
    all.result.hosts = std::move(hosts);
    return all;
}
std::string text_of(const TrustReport& all) {
    Page page(100, false);
    write_trust_text(page, all);
    return page.take();
}

TEST(TrustReport, a_host_stands_as_the_worst_of_its_keys) {
    EXPECT_EQ(trust_of(host("a", {key(Standing::known, "1")})), Trust::known);
    EXPECT_EQ(trust_of(host("a", {added("1"), key(Standing::known, "2")})), Trust::added);
    EXPECT_EQ(trust_of(host("a", {key(Standing::unknown, "1"), added("2")})), Trust::unknown);
    EXPECT_EQ(trust_of(host("a", {key(Standing::unknown, "1"), key(Standing::changed, "2")})),
              Trust::changed);
    EXPECT_EQ(trust_of(host("a", {key(Standing::changed, "1"), key(Standing::revoked, "2")})),
              Trust::revoked);
    EXPECT_EQ(trust_of(unreachable("a")), Trust::not_seen);
    EXPECT_EQ(trust_of(host("a", {})), Trust::not_seen);
}

TEST(TrustReport, the_exit_status_is_the_worst_hosts) {
    const ScannedHost known = host("a", {key(Standing::known, "1")});
    EXPECT_EQ(exit_status(report({known}), 0), 0);
    EXPECT_EQ(exit_status(report({known, host("b", {added("2")})}), 0), 0);
    EXPECT_EQ(exit_status(report({known, host("b", {key(Standing::unknown, "2")})}), 0), 1);
    EXPECT_EQ(exit_status(report({known, host("b", {key(Standing::changed, "2")})}), 0), 1);
    EXPECT_EQ(exit_status(report({known, host("b", {key(Standing::revoked, "2")})}), 0), 1);
    EXPECT_EQ(exit_status(report({host("b", {key(Standing::changed, "2")}), unreachable("c")}), 0), 3);
    TrustReport late = report({unreachable("c")});
    late.result.deadline_passed = true;
    EXPECT_EQ(exit_status(late, 0), 4);
    EXPECT_EQ(exit_status(late, SIGINT), 130);
    EXPECT_EQ(exit_status(late, SIGTERM), 143);
    late.unwritten = {"disk full"};
    EXPECT_EQ(exit_status(late, SIGINT), 5);
}

TEST(TrustReport, known_hosts_take_one_line_however_many_they_are) {
    std::vector<ScannedHost> hosts;
    for (int i = 10; i < 74; ++i)
        hosts.push_back(host("gpu" + std::to_string(i), {key(Standing::known, std::to_string(i))}));
    const std::string text = text_of(report(std::move(hosts)));
    EXPECT_THAT(text, HasSubstr("gpu[10-73] (64): known\n"));
    EXPECT_THAT(text, HasSubstr("64 hosts: 64 known;"));
    EXPECT_THAT(text, HasSubstr("exit 0: every host's key is known"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(TrustReport, shows_each_new_key_with_type_and_fingerprint) {
    TrustReport all = report({host(
        "gpu01", {key(Standing::unknown, "one"), key(Standing::unknown, "two", "ecdsa-sha2-nistp256")})});
    const std::string text = text_of(all);
    EXPECT_THAT(text, HasSubstr("gpu01: unknown\n"));
    EXPECT_THAT(text, HasSubstr("    ssh-ed25519          SHA256:one\n"));
    EXPECT_THAT(text, HasSubstr("    ecdsa-sha2-nistp256  SHA256:two\n"));
    all.keys_shown = true;
    EXPECT_THAT(text_of(all), Not(HasSubstr("SHA256:one")));
}

TEST(TrustReport, says_once_that_an_authority_alone_is_known) {
    ShownHostKey one = key(Standing::unknown, "one"), two = key(Standing::unknown, "two", "ssh-rsa");
    one.place = two.place = "known_hosts:3";
    const std::string text = text_of(report({host("gpu01", {one, two})}));
    EXPECT_THAT(text, HasSubstr("    only an authority for its certificates is known: known_hosts:3\n"));
    EXPECT_EQ(text.find("known_hosts:3"), text.rfind("known_hosts:3"));
}

TEST(TrustReport, a_changed_key_is_said_with_what_to_do) {
    const std::string text = text_of(report({host("gpu01", {key(Standing::changed, "new")})}));
    EXPECT_THAT(text,
                HasSubstr("gpu01: changed\n    host-key: its host key has changed\n    -> look at it\n"));
}

TEST(TrustReport, hosts_that_fail_alike_are_said_once) {
    const std::string text = text_of(report({unreachable("gpu01"), unreachable("gpu02")}));
    EXPECT_THAT(text, HasSubstr("gpu[01-02] (2): no key seen\n    connect: nobody listens\n"));
}

TEST(TrustReport, one_key_on_several_hosts_is_a_warning) {
    const std::string text = text_of(report({host("gpu01", {key(Standing::unknown, "same")}),
                                             host("gpu02", {key(Standing::unknown, "same")}),
                                             host("gpu03", {key(Standing::unknown, "own")})}));
    EXPECT_THAT(text, HasSubstr("gpu[01-02] (2): unknown\n    ssh-ed25519  SHA256:same\n"));
    EXPECT_THAT(text, HasSubstr("warning: gpu[01-02] (2) have the same key ssh-ed25519 SHA256:same"));
    EXPECT_THAT(text, Not(HasSubstr("gpu03 have")));
}

TEST(TrustReport, counts_the_new_keys) {
    const TrustReport all = report({host("a", {key(Standing::unknown, "1"), key(Standing::unknown, "2")}),
                                    host("b", {key(Standing::known, "3")}),
                                    host("c", {key(Standing::unknown, "4"), key(Standing::revoked, "5")})});
    EXPECT_EQ(new_keys(all.result).hosts, 1u) << "nobody is asked about what stands beside a revoked key";
    EXPECT_EQ(new_keys(all.result).keys, 2u);
}

TEST(TrustReport, json_has_everything) {
    TrustReport all = report({host("gpu01", {key(Standing::changed, "new")}), unreachable("gpu02"),
                              host("gpu03", {added("three")})});
    all.exit_status = 3;
    all.unwritten = {"no space"};
    const auto json = trust_json(all);
    EXPECT_EQ(json["schema"], "cleanslate.trust/1");
    EXPECT_EQ(json["exit_status"], 3);
    EXPECT_EQ(json["hosts"][0]["trust"], "changed");
    EXPECT_EQ(json["hosts"][0]["keys"][0]["fingerprint"], "SHA256:new");
    EXPECT_EQ(json["hosts"][0]["keys"][0]["place"], "known_hosts:7");
    EXPECT_EQ(json["hosts"][0]["keys"][0]["known_fingerprint"], "SHA256:old");
    EXPECT_EQ(json["hosts"][0]["error"]["kind"], "host_key_changed");
    EXPECT_EQ(json["hosts"][1]["trust"], "not_seen");
    EXPECT_EQ(json["hosts"][1]["error"]["phase"], "connect");
    EXPECT_EQ(json["hosts"][2]["trust"], "added");
    EXPECT_TRUE(json["hosts"][2]["error"].is_null());
    EXPECT_EQ(json["unwritten"][0], "no space");
}

TEST(TrustReport, no_byte_of_a_host_steers_the_terminal) {
    const std::string text = text_of(report({host("gpu01", {key(Standing::unknown, "x", "\x1b[31mtype")})}));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, HasSubstr("\\x1B[31mtype"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
