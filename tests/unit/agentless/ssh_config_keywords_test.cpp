#include "agentless/ssh/ssh_config_keywords.hpp"

#include <gtest/gtest.h>

#include "agentless/ssh/ssh_config_line.hpp"

namespace cleanslate::agentless::ssh {
namespace {

std::string read(Keyword keyword, std::string_view rest) {
    const auto directive =
        read_directive(keyword, rest, argument_words(rest).value_or(std::vector<std::string>()));
    if (!directive) return "refused: " + directive.error().message;
    std::string text = std::to_string(directive->number);
    for (const auto& value : directive->values) text += "|" + value;
    return text;
}

std::string time(std::string_view text) {
    const auto seconds = config_time(text);
    return seconds ? std::to_string(*seconds) : "refused";
}

TEST(SshConfigKeywords, AreKnownByTheirNamesInSmallLetters) {
    EXPECT_EQ(find_keyword("hostname").keyword, Keyword::host_name);
    EXPECT_EQ(find_keyword("challengeresponseauthentication").keyword,
              Keyword::kbd_interactive_authentication);
    EXPECT_EQ(find_keyword("forwardagent").keyword, Keyword::harmless);
    EXPECT_EQ(find_keyword("usekeychain").keyword, Keyword::unknown);
    EXPECT_EQ(find_keyword("HostName").keyword, Keyword::unknown);
    const KnownKeyword noted = find_keyword("canonicalizehostname");
    ASSERT_EQ(noted.keyword, Keyword::noted);
    EXPECT_EQ(noted.noted->name, "CanonicalizeHostname");
}

TEST(SshConfigKeywords, TimesAreSecondsOrHaveUnits) {
    EXPECT_EQ(time("90"), "90");
    EXPECT_EQ(time("1m30s"), "90");
    EXPECT_EQ(time("1W1d1H"), "694800");
    EXPECT_EQ(time("1s2"), "3");
    for (const auto* text : {"", "s", "1x", "1.5", "-1", "1 s", "99999999999", "4000w"})
        EXPECT_EQ(time(text), "refused");
}

TEST(SshConfigKeywords, ValuesAreReadAsSshReadsThem) {
    EXPECT_EQ(read(Keyword::port, "2200"), "2200|2200");
    EXPECT_EQ(read(Keyword::port, "0"), "refused: makes no sense: \"0\"");
    EXPECT_EQ(read(Keyword::port, "x\x1b"), "refused: makes no sense: \"x\\x1B\"");
    EXPECT_EQ(read(Keyword::connect_timeout, "none"), "-1|none");
    EXPECT_EQ(read(Keyword::batch_mode, "True"), "1|True");
    EXPECT_EQ(read(Keyword::batch_mode, "2"), "refused: makes no sense: \"2\"");
    EXPECT_EQ(read(Keyword::pubkey_authentication, "unbound"), "1|unbound");
    EXPECT_EQ(read(Keyword::password_authentication, "unbound"), "refused: makes no sense: \"unbound\"");
    EXPECT_EQ(read(Keyword::strict_host_key_checking, "OFF"), "0|no") << "as in ssh";
    EXPECT_EQ(read(Keyword::user_known_hosts, "None"), "0");
    EXPECT_EQ(read(Keyword::user_known_hosts, "a 'b c'"), "0|a|b c");
    EXPECT_EQ(read(Keyword::user, "a b"), "refused: more than one argument");
    EXPECT_EQ(read(Keyword::user, "''"), "refused: an argument is missing");
    EXPECT_EQ(read(Keyword::identity_agent, "$A-B"), "refused: makes no sense: \"$A-B\"");
}

TEST(SshConfigKeywords, ACommandIsTheRestOfItsLine) {
    EXPECT_EQ(read(Keyword::proxy_command, "= nc  \"%h\" # %p"), "0|nc  \"%h\" # %p");
    EXPECT_EQ(read(Keyword::proxy_command, "= "), "refused: an argument is missing");
}

TEST(SshConfigKeywords, AJumpIsHosts) {
    EXPECT_EQ(read(Keyword::proxy_jump, "a@b:22,c"), "0|a@b:22,c");
    EXPECT_EQ(read(Keyword::proxy_jump, "a # b"), "0|a");
    EXPECT_EQ(read(Keyword::proxy_jump, "NONE"), "0|none");
    EXPECT_TRUE(read(Keyword::proxy_jump, "a,").starts_with("refused: jump host"))
        << read(Keyword::proxy_jump, "a,");
    EXPECT_TRUE(read(Keyword::proxy_jump, "a:0").starts_with("refused: jump host"));
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
