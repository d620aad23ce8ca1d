#include "agentless/ssh/ssh_config_match.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless::ssh {
namespace {

TEST(SshConfigMatch, AStarIsAnyTextAndAQuestionMarkOneByte) {
    for (const auto& [text, pattern] : {std::pair("gpu01", "gpu01"),
                                        {"gpu01", "*"},
                                        {"gpu01", "gpu*"},
                                        {"gpu01", "*1"},
                                        {"gpu01", "g*0?"},
                                        {"gpu01", "?????"},
                                        {"", "*"},
                                        {"", ""},
                                        {"a.b.c", "*.*.c"},
                                        {"aab", "*ab"},
                                        {"gpu01", "**gpu**"}})
        EXPECT_TRUE(matches_pattern(text, pattern)) << text << " " << pattern;
    for (const auto& [text, pattern] : {std::pair("gpu01", "GPU01"),
                                        {"gpu01", "gpu"},
                                        {"gpu01", "gpu0"},
                                        {"gpu01", "????"},
                                        {"", "?"},
                                        {"gpu01", ""},
                                        {"gpu01", "*2"},
                                        {"gpu01", "gpu01*?"}})
        EXPECT_FALSE(matches_pattern(text, pattern)) << text << " " << pattern;
}

TEST(SshConfigMatch, ManyStarsCostNoMoreThanTheyMust) {
    std::string stars;
    for (int i = 0; i < 2'000; ++i) stars += "*a";
    EXPECT_FALSE(matches_pattern(std::string(2'000, 'a') + "b", stars));
}

TEST(SshConfigMatch, AListMatchesWhereOneDoesAndNoNegatedOne) {
    EXPECT_TRUE(matches_pattern_list("gpu01", "login*,gpu*"));
    EXPECT_FALSE(matches_pattern_list("gpu01", "gpu*,!gpu01"));
    EXPECT_FALSE(matches_pattern_list("gpu01", "!gpu01,gpu*"));
    EXPECT_FALSE(matches_pattern_list("gpu01", "!login*")) << "negated ones alone choose nobody";
    EXPECT_FALSE(matches_pattern_list("gpu01", "gpu* ,login"));
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
