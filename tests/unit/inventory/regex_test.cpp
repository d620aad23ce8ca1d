#include "inventory/regex.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace cleanslate::inventory {
namespace {

bool fits(std::string_view expression, std::string_view text) {
    const auto regex = Regex::compile(expression);
    if (!regex) {
        ADD_FAILURE() << regex.error().message;
        return false;
    }
    return regex->matches_start_of(text);
}

std::string why_not(std::string_view expression) {
    const auto regex = Regex::compile(expression);
    if (regex) return "taken";
    EXPECT_EQ(regex.error().kind, "limit");
    return regex.error().message;
}

TEST(Regex, MatchesFromTheStartAndNotToTheEnd) {
    EXPECT_TRUE(fits("gpu0[1-4]", "gpu01"));
    EXPECT_TRUE(fits("gpu", "gpu01"));
    EXPECT_FALSE(fits("pu", "gpu01"));
    EXPECT_FALSE(fits("gpu$", "gpu01"));
    EXPECT_TRUE(fits("(rack1|rack2)$", "rack2"));
    EXPECT_TRUE(fits(".*\\.example\\.org", "a.example.org"));
    EXPECT_TRUE(fits("(?i)GPU\\d{2}\\b", "gpu01"));
    EXPECT_TRUE(fits("(?P<rack>r\\d+)n(?:1|2)", "r12n2"));
    EXPECT_FALSE(fits("a|b$", "bc"));
}

TEST(Regex, SaysWhatOnlyPythonKnows) {
    EXPECT_EQ(why_not("gpu(?!01)"), "the regular expression \"gpu(?!01)\": (?! does not exist here");
    EXPECT_EQ(why_not("(?<=g)pu"), "the regular expression \"(?<=g)pu\": (?< does not exist here");
    EXPECT_EQ(why_not("(a)\\1"), "the regular expression \"(a)\\1\": \\1 does not exist here");
    EXPECT_EQ(why_not("a\\Z"), "the regular expression \"a\\Z\": \\Z does not exist here");
    EXPECT_EQ(why_not("a{,3}"), "the regular expression \"a{,3}\": {,n} does not exist here");
    for (const char* inside : {"h[x[:digit:]]", "h[^[:alpha:]]", "[a-z[:digit:]]"})
        EXPECT_NE(why_not(inside).find("[: does not exist here"), std::string::npos) << inside;
    EXPECT_EQ(why_not("[[:alpha:]]"), "the regular expression \"[[:alpha:]]\": [: does not exist here");
    EXPECT_EQ(why_not("\\pL"), "the regular expression \"\\pL\": \\p does not exist here");
    EXPECT_EQ(why_not("(?U)a*"), "the regular expression \"(?U)a*\": (?U does not exist here");
}

TEST(Regex, RefusesWhatIsMalformed) {
    for (const auto* text : {"", "(", ")", "[", "*", "a**", "a{2", "\\", "[z-a]", "(?P<n", "a{1001}"}) {
        if (std::string_view(text) == "a{2") continue;  // both read it as text
        EXPECT_NE(why_not(text), "taken") << text;
    }
    EXPECT_EQ(why_not(std::string(501, 'a')).substr(87), "longer than 500 bytes");
    EXPECT_EQ(why_not("\x1b["), "the regular expression \"\\x1B[\": missing ]: [");
}

TEST(Regex, TakesATimeThatTheExpressionCanNotStretch) {
    const auto began = std::chrono::steady_clock::now();
    std::string nested = "(a*)*";
    for (int i = 0; i < 20; ++i) nested = "(" + nested + ")*";
    EXPECT_FALSE(fits(nested + "b$", std::string(255, 'a')));
    EXPECT_FALSE(fits("(x+x+)+y", std::string(255, 'x')));
    EXPECT_NE(why_not("((((a{100}){100}){100}){100})"), "taken");
    EXPECT_NE(why_not("(((a{30}){30}){30}){30}"), "taken");
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

}  // namespace
}  // namespace cleanslate::inventory
