#include "inventory/node_set.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

std::string unfolded(std::string_view text, std::size_t max_names = 1'000) {
    const auto names = unfold(text, max_names);
    if (!names) return names.error().message;
    std::string out;
    for (const auto& name : *names) out += (out.empty() ? "" : " ") + name;
    return out;
}

TEST(Unfold, ANameIsItself) {
    EXPECT_EQ(unfolded("gpu01"), "gpu01");
    EXPECT_EQ(unfolded("gpu01.example-2.com"), "gpu01.example-2.com");
}

TEST(Unfold, KeepsTheWidthOfTheFirstBound) {
    EXPECT_EQ(unfolded("n[01-03]"), "n01 n02 n03");
    EXPECT_EQ(unfolded("n[01:03]"), "n01 n02 n03");
    EXPECT_EQ(unfolded("n[8-11]"), "n8 n9 n10 n11");
    EXPECT_EQ(unfolded("n[098-101]"), "n098 n099 n100 n101");
    EXPECT_EQ(unfolded("n[0-2]"), "n0 n1 n2");
    EXPECT_EQ(unfolded("n[098-1001/451]"), "n098 n549 n1000") << "with a dash the last may be wider";
}

TEST(Unfold, TakesListsAndSeveralBrackets) {
    EXPECT_EQ(unfolded("n[1-3,7]"), "n1 n2 n3 n7");
    EXPECT_EQ(unfolded("n[1-2, 09]x"), "n1x n2x n09x");
    EXPECT_EQ(unfolded("r[1-2]n[01-02]"), "r1n01 r1n02 r2n01 r2n02");
    EXPECT_EQ(unfolded("[1-2][1-2]"), "11 12 21 22");
    EXPECT_EQ(unfolded("gpu[01-02], login1 ,gpu07"), "gpu01 gpu02 login1 gpu07");
}

TEST(Unfold, TakesStepsAndLetters) {
    EXPECT_EQ(unfolded("n[1:9:4]"), "n1 n5 n9");
    EXPECT_EQ(unfolded("n[1-8/4]"), "n1 n5");
    EXPECT_EQ(unfolded("n[1-3/99999999999999999]"), "n1");
    EXPECT_EQ(unfolded("db-[a:c]"), "db-a db-b db-c");
    EXPECT_EQ(unfolded("db-[x-z/2]"), "db-x db-z");
}

TEST(Unfold, GivesEachNameOnce) {
    EXPECT_EQ(unfolded("n[1-3,2],n1"), "n1 n2 n3");
    EXPECT_EQ(unfolded("n[1,01]"), "n1 n01");
}

TEST(Unfold, RefusesReversedAndRaggedRanges) {
    EXPECT_EQ(unfolded("n[04-01]"), "\"n[04-01]\": the range 04-01 runs backwards");
    EXPECT_EQ(unfolded("n[c-a]"), "\"n[c-a]\": the range c:a runs backwards");
    EXPECT_EQ(unfolded("n[01:100]"), "\"n[01:100]\": the range 01:100 is ragged") << "as Ansible does";
    EXPECT_EQ(unfolded("n[01-3]"), "\"n[01-3]\": the range 01-3 is ragged");
    EXPECT_EQ(unfolded("n[1-016]"), "\"n[1-016]\": the range 1-016 is ragged");
    EXPECT_EQ(unfolded("n[001-16]"), "\"n[001-16]\": the range 001-16 is ragged");
    EXPECT_EQ(unfolded("n[a-Z]"), "\"n[a-Z]\": the range mixes capital and small letters");
}

TEST(Unfold, RefusesWhatIsNoRange) {
    for (const auto* item :
         {"", "1-", "-1", "1--2", "1-2-3", "ab", "1-b", "aa-bb", "1:2:3:4", "1:2:x", "1-2/", "1 2", "*",
          "1:", "+1", "1.5", "\xFF", "1234567890123456789", "1-9/-1"}) {
        const auto text = std::string("n[") + item + "]";
        EXPECT_EQ(unfold(text).error().kind, "range") << text;
    }
    EXPECT_EQ(unfolded("n[1-9/0]"), "\"n[1-9/0]\": the step of a range can not be 0");
    EXPECT_EQ(unfolded("n[1:9:0]"), "\"n[1:9:0]\": the step of a range can not be 0");
}

TEST(Unfold, RefusesUnbalancedBrackets) {
    EXPECT_EQ(unfolded("n[1-2"), "\"n[1-2\": a [ without its ]");
    EXPECT_EQ(unfolded("n1-2]"), "\"n1-2]\": a ] without its [");
    EXPECT_EQ(unfolded("n[1]]"), "\"n[1]]\": a ] without its [");
    EXPECT_FALSE(unfold("n[[1]]"));
    EXPECT_FALSE(unfold("n[1],n["));
    EXPECT_FALSE(unfold(std::string(100'000, '[')));
}

TEST(Unfold, RefusesEmptyAndOddNames) {
    EXPECT_EQ(unfolded(""), "\"\": an empty name");
    EXPECT_EQ(unfolded("a,,b"), "\"\": an empty name");
    EXPECT_EQ(unfolded("a,"), "\"\": an empty name");
    EXPECT_EQ(unfolded("a b"), "\"a b\": a blank or control byte in a name");
    EXPECT_EQ(unfolded("a\x1b[1]"), "\"a\\x1B[1]\": a blank or control byte in a name");
    EXPECT_EQ(unfolded(std::string(256, 'a')),
              "\"" + std::string(57, 'a') + "...\": a name of more than 255 bytes");
}

TEST(Unfold, StopsAtTheBoundWithoutMakingTheNamesFirst) {
    EXPECT_EQ(unfolded("n[1-10]", 10), "n1 n2 n3 n4 n5 n6 n7 n8 n9 n10");
    EXPECT_EQ(unfolded("n[1-11]", 10), "\"n[1-11]\": stands for more than 10 names");
    EXPECT_EQ(unfolded("n[1-5,6-11]", 10), "\"n[1-5,6-11]\": stands for more than 10 names");
    EXPECT_EQ(unfolded("n[1-5],m[1-6]", 10), "\"n[1-5],m[1-6]\": stands for more than 10 names");
    EXPECT_EQ(unfolded("n[1-4]m[1-4]", 10), "\"n[1-4]m[1-4]\": stands for more than 10 names");
    EXPECT_FALSE(unfold("n[0-999999999999999999]"));
    EXPECT_FALSE(unfold("[0-999][0-999][0-999][0-999][0-999][0-999][0-999][0-999]"));
    EXPECT_EQ(unfold("n[1-100000]").value().size(), 100'000U);
    EXPECT_FALSE(unfold("n[1-1000001]"));
}

TEST(SplitTerms, KnowsCommasInsideOfBrackets) {
    EXPECT_EQ(split_terms("a, b[1,2] ,c"), (std::vector<std::string_view>{"a", "b[1,2]", "c"}));
    EXPECT_EQ(split_terms(""), (std::vector<std::string_view>{""}));
    EXPECT_EQ(split_terms("a[1,b"), (std::vector<std::string_view>{"a[1,b"}));
    EXPECT_EQ(split_terms("a],b"), (std::vector<std::string_view>{"a]", "b"}));
}

}  // namespace
}  // namespace cleanslate::inventory
