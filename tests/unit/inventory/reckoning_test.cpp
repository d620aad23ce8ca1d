#include "inventory/reckoning.hpp"

#include <gtest/gtest.h>

#include <map>

namespace cleanslate::inventory {
namespace {

// a, b, ... stand for the sets of their digits: "12,23!3" is {1,2} and {2,3} without {3}.
std::string left(std::string_view list) {
    Reckoning reckoning;
    for (const SignedTerm& term : signed_terms(list, Separators::commas)) {
        Indexes operand;
        for (const char c : term.text) operand.push_back(static_cast<std::size_t>(c - '0'));
        reckoning.apply(term, operand);
    }
    const auto result = reckoning.result([](std::size_t index) { return std::to_string(index); });
    if (!result) return result.error().message;
    std::string out;
    for (const auto index : *result) out += std::to_string(index);
    return out;
}

TEST(Reckoning, SignsBehindCommasCountAfterEverythingElse) {
    EXPECT_EQ(left("123,45"), "12345");
    EXPECT_EQ(left("123,!2"), "13");
    EXPECT_EQ(left("!2,123"), "13");
    EXPECT_EQ(left("12,&23,345"), "23");
    EXPECT_EQ(left("123,&23,&12"), "2");
    EXPECT_EQ(left("123,!3,345"), "1245");
    EXPECT_EQ(left("9,1,9"), "19");
    EXPECT_EQ(left("12,&345"), "");
}

TEST(Reckoning, GluedSignsAreReadInBothOrders) {
    EXPECT_EQ(left("123!2"), "13");
    EXPECT_EQ(left("123!2&12"), "1");
    EXPECT_EQ(left("123&12!2"), "1");
    EXPECT_EQ(left("12,345!2"), "1345");
    EXPECT_EQ(left("123!2,45"), "1345") << "no matter in which order";
    EXPECT_EQ(left("123!2,2"), "from left to right 2 is in it, with all signs at the end it is not");
    EXPECT_EQ(left("123&12,5"), "from left to right 5 is in it, with all signs at the end it is not");
    EXPECT_EQ(left("!2,123&12"), "from left to right 2 is in it, with all signs at the end it is not");
}

TEST(Reckoning, TogglesFromLeftToRight) {
    EXPECT_EQ(left("123^34"), "124");
    EXPECT_EQ(left("123^123"), "");
    EXPECT_EQ(left("123^3344"), "124") << "each once";
    EXPECT_EQ(left("12^23,2!1"), "23");
    EXPECT_EQ(left("12^23,!1").substr(0, 24), "`^` is ClusterShell's, a");
}

}  // namespace
}  // namespace cleanslate::inventory
