#include "inventory/glob.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cleanslate::inventory {
namespace {

TEST(Glob, MatchesTheWholeText) {
    EXPECT_TRUE(glob("", ""));
    EXPECT_TRUE(glob("*", ""));
    EXPECT_TRUE(glob("a*b?d", "axxbcd"));
    EXPECT_TRUE(glob("*a*a", "bababa"));
    EXPECT_FALSE(glob("", "a"));
    EXPECT_FALSE(glob("?", ""));
    EXPECT_FALSE(glob("a*", "ba"));
    EXPECT_FALSE(glob("*a", "ab"));
}

TEST(Glob, ManyStarsAreNoTrouble) {
    std::string pattern;
    for (int i = 0; i < 100; ++i) pattern += "*a";
    EXPECT_FALSE(glob(pattern + "*b", std::string(10'000, 'a')));
    EXPECT_FALSE(ClassGlob::parse(pattern + "*[b]")->matches(std::string(10'000, 'a')));
}

bool fits(std::string_view pattern, std::string_view text) {
    return ClassGlob::parse(pattern).value().matches(text);
}

TEST(ClassGlob, HasClassesOfCharacters) {
    EXPECT_TRUE(fits("n[123]", "n2"));
    EXPECT_FALSE(fits("n[123]", "n4"));
    EXPECT_TRUE(fits("n[0-9a-f]*", "nb7"));
    EXPECT_FALSE(fits("n[0-9a-f]*", "ng7"));
    EXPECT_TRUE(fits("n[!0-4]", "n5"));
    EXPECT_FALSE(fits("n[!0-4]", "n3"));
    EXPECT_TRUE(fits("*[1-2]?", "gpu29"));
    EXPECT_TRUE(fits("[]x]", "]"));
    EXPECT_FALSE(fits("[!]x]", "]"));
    EXPECT_TRUE(fits("[a-]", "-"));
    EXPECT_FALSE(fits("[z-a]", "m")) << "a range that runs backwards is empty";
    EXPECT_FALSE(fits("n[1]", "n12"));
}

TEST(ClassGlob, WantsItsBracketsClosed) {
    EXPECT_FALSE(ClassGlob::parse("n["));
    EXPECT_FALSE(ClassGlob::parse("n[]"));
    EXPECT_FALSE(ClassGlob::parse("n[!]"));
    EXPECT_FALSE(ClassGlob::parse("n[1"));
}

}  // namespace
}  // namespace cleanslate::inventory
