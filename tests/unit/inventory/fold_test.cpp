#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "inventory/node_set.hpp"

namespace cleanslate::inventory {
namespace {

using Names = std::vector<std::string>;

TEST(Fold, JoinsConsecutiveNumbers) {
    EXPECT_EQ(fold({"gpu01", "gpu02", "gpu07"}), "gpu[01-02,07]");
    EXPECT_EQ(fold({"gpu1", "gpu2", "gpu3"}), "gpu[1-3]");
    EXPECT_EQ(fold({"gpu07"}), "gpu07");
    EXPECT_EQ(fold({"login"}), "login");
    EXPECT_EQ(fold({}), "");
}

TEST(Fold, IsInNaturalOrderAndGivesEachNameOnce) {
    EXPECT_EQ(fold({"n10", "n9", "n2", "n9", "n1"}), "n[1-2,9-10]");
    EXPECT_EQ(fold({"login2", "gpu10", "gpu9", "login1", "admin"}), "admin,gpu[9-10],login[1-2]");
    EXPECT_EQ(fold({"a10b", "a9c", "a9b"}), "a[9-10]b,a9c");
}

TEST(Fold, KeepsWidthsApart) {
    EXPECT_EQ(fold({"n1", "n01", "n2", "n02"}), "n[1-2,01-02]");
    EXPECT_EQ(fold({"n08", "n09", "n10", "n11"}), "n[08-11]");
    EXPECT_EQ(fold({"n98", "n99", "n100", "n101"}), "n[98-101]");
    EXPECT_EQ(fold({"n098", "n099", "n100", "n101"}), "n[098-101]");
    EXPECT_EQ(fold({"n09", "n10", "n99", "n100"}), "n[09-10,99,100]") << "99-100 would be ragged";
    EXPECT_EQ(fold({"n0", "n00", "n000"}), "n[0,00,000]");
}

TEST(Fold, JoinsSeveralColumns) {
    EXPECT_EQ(fold({"r1n1", "r1n2", "r2n1", "r2n2"}), "r[1-2]n[1-2]");
    EXPECT_EQ(fold({"r1n1", "r1n2", "r2n1"}), "r1n[1-2],r2n1");
    EXPECT_EQ(fold({"10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.2"}), "10.0.[0-1].[1-2]");
    EXPECT_EQ(fold({"gpu01.c2.example", "gpu02.c2.example"}), "gpu[01-02].c2.example");
}

TEST(Fold, TreatsHugeNumbersAsText) {
    EXPECT_EQ(fold({"n12345678901234567890", "n12345678901234567891"}),
              "n12345678901234567890,n12345678901234567891");
    EXPECT_EQ(fold({"n999999999999999999"}), "n999999999999999999");
}

TEST(Fold, SurvivesNamesThatAreNoNames) {
    EXPECT_EQ(fold({std::string("a\0b1", 4), "[", "1"}), std::string("1,[,a\0b1", 8));
}

void expect_round_trip(const Names& names) {
    const auto folded = fold(names);
    const auto again = unfold(folded);
    ASSERT_TRUE(again) << folded << ": " << again.error().message;
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
              std::set<std::string>(again->begin(), again->end()))
        << folded;
    EXPECT_EQ(fold(*again), folded);
}

TEST(Fold, UnfoldsToExactlyTheSameNames) {
    expect_round_trip({"n1", "n01", "n001", "n9", "n10", "n11", "n99", "n100", "n010"});
    expect_round_trip({"r1n1", "r1n2", "r2n2", "r02n1", "r2n01"});
    expect_round_trip({"::1", "::2", "fe80::1"});
}

TEST(Fold, UnfoldsToExactlyTheSameNamesWhateverTheyAre) {
    std::mt19937 random(20261129);
    const std::string letters = "ab019.-";
    for (int round = 0; round < 2'000; ++round) {
        Names names;
        for (int i = 0; i < 12; ++i) {
            std::string name;
            for (auto n = 1 + random() % 5; n > 0; --n) name += letters[random() % letters.size()];
            names.push_back(name);
        }
        expect_round_trip(names);
        if (HasFatalFailure()) return;
    }
}

TEST(Fold, AHundredThousandNamesAreNoTrouble) {
    Names names;
    for (int i = 0; i < 100'000; ++i) names.push_back(fmt::format("r{}n{:02}", i / 50, i % 50));
    std::ranges::shuffle(names, std::mt19937(1));
    EXPECT_EQ(fold(names), "r[0-1999]n[00-49]");
}

}  // namespace
}  // namespace cleanslate::inventory
