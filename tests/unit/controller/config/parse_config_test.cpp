#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/config/config.hpp"

namespace cleanslate::controller::config::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* file = "/site/conf/config.yaml";

std::string value_of(const std::string& text, const std::string& home = "/home/me") {
    const auto settings = parse_config(text, file, home);
    EXPECT_TRUE(settings) << text << ": " << (settings ? "" : settings.error().message);
    if (!settings || settings->size() != 1 || settings->front().values.size() != 1) return "";
    return settings->front().values.front().text;
}

Error refusal(const std::string& text) {
    const auto settings = parse_config(text, file, "/home/me");
    EXPECT_FALSE(settings) << text;
    if (settings) return {};
    EXPECT_EQ(settings.error().kind, "config");
    EXPECT_THAT(settings.error().message, StartsWith("/site/conf/config.yaml:"));
    return settings.error();
}

TEST(ParseConfig, OfNothingHasNoSettings) {
    EXPECT_TRUE(parse_config("", file, "").value().empty());
    EXPECT_TRUE(parse_config("# all of it a comment\n", file, "").value().empty());
}

TEST(ParseConfig, KnowsThePlaceOfEachValue) {
    const auto settings = parse_config("fanout: 64\nprotect: [a, b]\n", file, "").value();
    ASSERT_EQ(settings.size(), 2u);
    EXPECT_EQ(settings[0].values[0].place(), "/site/conf/config.yaml:1:9");
    ASSERT_EQ(settings[1].values.size(), 2u);
    EXPECT_EQ(settings[1].place(), "/site/conf/config.yaml:2:1");
    EXPECT_EQ(settings[1].values[1].place(), "/site/conf/config.yaml:2:14");
}

TEST(ParseConfig, TakesPathsFromItsOwnFolder) {
    EXPECT_EQ(value_of("inventory: fleet.yaml"), "/site/conf/fleet.yaml");
    EXPECT_EQ(value_of("inventory: ../fleet.yaml"), "/site/fleet.yaml");
    EXPECT_EQ(value_of("inventory: /etc/fleet.yaml"), "/etc/fleet.yaml");
    EXPECT_EQ(value_of("inventory: ~/fleet.yaml"), "/home/me/fleet.yaml");
    EXPECT_EQ(value_of("inventory: ansible:hosts.ini"), "ansible:/site/conf/hosts.ini");
    EXPECT_EQ(value_of("identity: id"), "/site/conf/id");
    EXPECT_EQ(value_of("known-hosts: [known]"), "/site/conf/known");
    EXPECT_EQ(value_of("history: h.db"), "/site/conf/h.db");
    EXPECT_EQ(value_of("ssh-config: none"), "none");
    EXPECT_EQ(value_of("format: html=out/f.html"), "html=/site/conf/out/f.html");
    EXPECT_EQ(value_of("format: json"), "json");
    EXPECT_EQ(value_of("format: json=-"), "json=-");
}

TEST(ParseConfig, TellsAPlaybooksNameFromItsFile) {
    EXPECT_EQ(value_of("playbook: sweep"), "sweep");
    EXPECT_EQ(value_of("playbook: ./sweep"), "/site/conf/sweep");
    EXPECT_EQ(value_of("playbook: mine.yaml"), "/site/conf/mine.yaml");
    EXPECT_EQ(value_of("playbook: ~/mine.yml"), "/home/me/mine.yml");
}

TEST(ParseConfig, RefusesPathsThatMeanNothingHere) {
    EXPECT_THAT(refusal("inventory: -").message, HasSubstr(":1:12: malformed"));
    EXPECT_THAT(refusal("inventory: '-'").message, HasSubstr("standard input"));
    EXPECT_THAT(refusal("audit: '-'").message, HasSubstr("standard input"));
    EXPECT_THAT(refusal("identity: ~root/id").message, HasSubstr("only ~/"));
    EXPECT_FALSE(parse_config("identity: ~/id", file, ""));
}

TEST(ParseConfig, NamesTheNearKeyOfAWrongOne) {
    EXPECT_THAT(refusal("\nfan-out: 3").message, HasSubstr(":2:1: unknown key `fan-out`"));
    EXPECT_THAT(refusal("fan-out: 3").remedy, HasSubstr("did you mean `fanout`?"));
    EXPECT_THAT(refusal("formats: json").remedy, HasSubstr("did you mean `format`?"));
    EXPECT_THAT(refusal("whatever: 3").remedy, StartsWith("keys: inventory, "));
}

TEST(ParseConfig, RefusesByNameWhatIsNoDefault) {
    EXPECT_THAT(refusal("yes: true").message, HasSubstr("`yes` is no setting of a file"));
    EXPECT_THAT(refusal("limit: all").message, HasSubstr("which hosts are meant"));
    EXPECT_THAT(refusal("include-jobs: false").message, HasSubstr("other people's jobs"));
    EXPECT_THAT(refusal("host-key-check: off").message, HasSubstr("must be given each time"));
    EXPECT_EQ(value_of("host-key-check: accept-new"), "accept-new");
}

TEST(ParseConfig, IsStrict) {
    EXPECT_THAT(refusal("fanout: 1\nfanout: 2").message, HasSubstr("fanout"));
    EXPECT_THAT(refusal("deadline:").message, HasSubstr("found nothing"));
    EXPECT_THAT(refusal("deadline: ''").message, HasSubstr("it is empty"));
    EXPECT_THAT(refusal("deadline: [1h]").message, HasSubstr("a list"));
    EXPECT_THAT(refusal("deadline: !x 1h").message, HasSubstr("tag"));
    EXPECT_THAT(refusal("protect: {a: b}").message, HasSubstr("a mapping"));
    EXPECT_THAT(refusal("protect: [a, ]\n- b").message, HasSubstr("malformed"));
    EXPECT_THAT(refusal("require-holders: yes").message, HasSubstr("true or false"));
    EXPECT_THAT(refusal("- fanout").message, HasSubstr("KEY: VALUE"));
    EXPECT_THAT(refusal("fanout").message, HasSubstr("KEY: VALUE"));
    EXPECT_THAT(refusal("fanout: 1\n---\nfanout: 2").message, HasSubstr("document"));
}

TEST(ParseConfig, ShowsNothingThatATerminalWouldObey) {
    EXPECT_EQ(refusal("\"\\e[2J\": 1").message.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::controller::config::testing
