#include "playbooks/pattern_outline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cleanslate::playbooks {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::string_literals;

std::string refusal(std::string_view pattern) {
    const auto outline = check_outline(pattern);
    if (outline) {
        ADD_FAILURE() << "accepted: " << pattern;
        return {};
    }
    EXPECT_EQ(outline.error().kind, "playbook");
    return outline.error().message + " -> " + outline.error().remedy;
}

std::string repeated(std::string_view part, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += part;
    return out;
}

TEST(PatternOutline, OrdinaryExpressionsPass) {
    for (const char* pattern :
         {"sglang", "sglang[.]launch_server", "^python[0-9.]*$", "(a|b)+c?", "[]x]", "[^]x]",
          "[[:digit:]]{1,3}", "a{2}", "a{2,}", "a{0,255}", "x\\{y", "}", "\\.\\*\\$\\^\\|\\(\\)",
          "\\bvllm\\b", "[a\\.b]", "a|^b$", "([0-9]{1,3}\\.){3}[0-9]{1,3}",
          "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}", "[[.-.]]"})
        EXPECT_TRUE(check_outline(pattern)) << pattern;
}

TEST(PatternOutline, AGlobIsRefused) {
    EXPECT_THAT(refusal("*sglang*"),
                AllOf(HasSubstr("character 1"), HasSubstr("not a glob"), HasSubstr("leave a leading *")));
    EXPECT_THAT(refusal("a|*b"), HasSubstr("character 3: nothing to repeat"));
    EXPECT_THAT(refusal("(+b)"), HasSubstr("nothing to repeat"));
    EXPECT_THAT(refusal("^*b"), HasSubstr("nothing to repeat"));
    EXPECT_THAT(refusal("{2}"), HasSubstr("nothing to repeat"));
}

TEST(PatternOutline, PerlIsRefusedWithWhatPosixWrites) {
    EXPECT_THAT(refusal("rank\\d+"), AllOf(HasSubstr("character 5"), HasSubstr("write [0-9]")));
    EXPECT_THAT(refusal("(?:a|b)"), HasSubstr("(a|b)"));
    EXPECT_THAT(refusal("(?i)vllm"), HasSubstr("Perl's"));
    EXPECT_THAT(refusal("a.*?b"), HasSubstr("two repetitions"));
    EXPECT_THAT(refusal("a++"), HasSubstr("two repetitions"));
    EXPECT_THAT(refusal("a\\tb"), HasSubstr("\\t means nothing"));
    EXPECT_THAT(refusal("[\\w.]x"), HasSubstr("[[:alnum:]_]"));
    EXPECT_THAT(refusal("[\\d]x"), HasSubstr("backslash is only itself"));
    EXPECT_THAT(refusal("[a\\]b]"), HasSubstr("a ] comes first"));
}

TEST(PatternOutline, BackReferencesAreRefused) {
    EXPECT_THAT(refusal("(a*)\\1"), HasSubstr("back-references"));
}

TEST(PatternOutline, WhatIsNotClosedIsRefused) {
    EXPECT_THAT(refusal("a)"), HasSubstr("character 2: this ) closes nothing"));
    EXPECT_THAT(refusal("[abc"), HasSubstr("never closed"));
    EXPECT_THAT(refusal("[[:alpha:]"), HasSubstr("never closed"));
    EXPECT_THAT(refusal("[[:alpha"), HasSubstr("never closed"));
    EXPECT_THAT(refusal("[]"), HasSubstr("never closed"));
    EXPECT_THAT(refusal("abc\\"), HasSubstr("a backslash at the end"));
}

TEST(PatternOutline, ABraceThatIsNoRepetitionIsRefused) {
    for (const char* pattern : {"a{", "a{}", "a{x}", "a{,3}", "a{3,2}", "a{256}", "a{1,2,3}", "a{-1}",
                                "a{1,999999999999999999999}"})
        EXPECT_THAT(refusal(pattern), HasSubstr("not a repetition")) << pattern;
}

TEST(PatternOutline, ABombIsRefusedBeforeItIsCompiled) {
    EXPECT_THAT(refusal("((a{99}){99}){99}"), HasSubstr("unfold"));
    EXPECT_THAT(refusal(repeated("(", 20) + "a" + repeated("+)", 20)), HasSubstr("unfold"));
    EXPECT_THAT(refusal(repeated("a{255}", 10)), HasSubstr("unfold"));
    EXPECT_THAT(refusal(repeated("(", 51) + "a" + repeated(")", 51)), HasSubstr("nested groups"));
    EXPECT_THAT(refusal(std::string(1025, 'a')), HasSubstr("1025 bytes"));
    EXPECT_TRUE(check_outline(std::string(1024, 'a')));
}

TEST(PatternOutline, ControlCharactersAreRefused) {
    EXPECT_THAT(refusal("sglang\n"), AllOf(HasSubstr("sglang\\x0A"), HasSubstr("line break")));
    EXPECT_THAT(refusal("a\0b"s), HasSubstr("control character"));
}

}  // namespace
}  // namespace cleanslate::playbooks
