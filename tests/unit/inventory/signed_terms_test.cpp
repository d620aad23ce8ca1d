#include "inventory/signed_terms.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cleanslate::inventory {
namespace {

// "a|!b|g&c": g is for glued.
std::string terms(std::string_view list, Separators separators = Separators::commas_and_colons) {
    std::string out;
    const auto all = signed_terms(list, separators);
    for (const SignedTerm& term : all) {
        if (&term != all.data()) out += '|';
        if (term.glued) out += 'g';
        if (term.sign != Sign::add)
            out += term.sign == Sign::keep ? '&' : term.sign == Sign::drop ? '!' : '^';
        out += term.text;
    }
    return out;
}

TEST(SignedTerms, AreParted) {
    EXPECT_EQ(terms("a"), "a");
    EXPECT_EQ(terms(" a , b:c "), "a|b|c");
    EXPECT_EQ(terms("a,b:c", Separators::commas), "a|b:c");
    EXPECT_EQ(terms("n[1,2],r[1:2]:b"), "n[1,2]|r[1:2]|b");
}

// Each is read once: a list of some MiB would take hours otherwise.
TEST(SignedTerms, AreReadOnceHoweverManyColonsStandThere) {
    std::string list;
    for (int i = 0; i < 300'000; ++i) list += "gpu01:";
    EXPECT_EQ(signed_terms(list + "x", Separators::commas_and_colons).size(), 300'001u);
}

TEST(SignedTerms, HaveSignsBehindSeparatorsAndBehindTerms) {
    EXPECT_EQ(terms("!a,&b,^c"), "!a|&b|^c");
    EXPECT_EQ(terms("a,!b:&c"), "a|!b|&c");
    EXPECT_EQ(terms("a!b&c^d,e"), "a|g!b|g&c|g^d|e");
    EXPECT_EQ(terms("a ! b , & c"), "a|g!b|&c");
    EXPECT_EQ(terms("n[!a]!n[&b]"), "n[!a]|g!n[&b]") << "in brackets they are none";
}

TEST(SignedTerms, AreSeenWhereNothingStands) {
    EXPECT_EQ(terms(""), "");
    EXPECT_EQ(terms(","), "|");
    EXPECT_EQ(terms("a,"), "a|");
    EXPECT_EQ(terms("a!"), "a|g!");
    EXPECT_EQ(terms("a!!b"), "a|g!|g!b");
    EXPECT_EQ(terms("!"), "!");
}

TEST(SignedTerms, LeaveAddressesAndFilesWhole) {
    EXPECT_EQ(terms("::1,fe80::1%eth0,!2001:db8::7"), "::1|fe80::1%eth0|!2001:db8::7");
    EXPECT_EQ(terms("::1!fe80::1"), "::1|g!fe80::1");
    EXPECT_EQ(terms("[::1]:a"), "[::1]|a");
    EXPECT_EQ(terms("@C:/a&b!c,!@d:e"), "@C:/a&b!c|!@d:e");
    EXPECT_EQ(terms("a!@b!c"), "a|g!@b!c");
}

TEST(SignedTerms, LeaveExpressionsWhole) {
    EXPECT_EQ(terms("~n{1,2}:a"), "~n{1,2}|a");
    EXPECT_EQ(terms("~(?:a|b),c"), "~(?:a|b)|c");
    EXPECT_EQ(terms("~^a!&b,c"), "~^a!&b|c");
    EXPECT_EQ(terms("!~[^:,]+:c"), "!~[^:,]+|c");
    EXPECT_EQ(terms("a!~b\\(,c"), "a|g!~b\\(|c");
    EXPECT_EQ(terms("~)a,b"), "~)a|b");
}

}  // namespace
}  // namespace cleanslate::inventory
