#include "inventory/scalars.hpp"

#include <gtest/gtest.h>

namespace cleanslate::inventory {
namespace {

Scalar kind(std::string_view text) { return kind_of(yaml::parse(text, "f").value().root()); }

TEST(Scalars, AreOfTheKindsOfYaml11) {
    for (const auto* text : {"yes", "No", "TRUE", "off", "On"})
        EXPECT_EQ(kind(text), Scalar::boolean) << text;
    for (const auto* text : {"0", "-5", "+22", "010", "0x1F", "0b101", "1_000", "1:30", "190:20:30"})
        EXPECT_EQ(kind(text), Scalar::integer) << text;
    for (const auto* text : {"1.5", "10.", ".5", "1.0e+3", "-.inf", ".nan", "1:30.5", "6.8_5"})
        EXPECT_EQ(kind(text), Scalar::real) << text;
    for (const auto* text : {"2026-11-30", "2026-1-3T10:00:00Z"}) EXPECT_EQ(kind(text), Scalar::date) << text;
    for (const auto* text :
         {"y",     "n",       "T",       "yEs",   "08", "0o17", "1e3", "10.0.0.1", "1:60",    "n1", "'yes'",
          "\"1\"", "!!str 1", "2026-11", "gpu01", "-",  "+",    ".",   "1-2",      "yes-man", "0x", "-.5x"})
        EXPECT_EQ(kind(text), Scalar::text) << text;
    for (const auto* text : {"", "~", "null"}) EXPECT_EQ(kind(text), Scalar::null) << text;
}

TEST(Scalars, IntegersHaveTheValueThatAnsibleSees) {
    EXPECT_EQ(integer_of("022"), 18);
    EXPECT_EQ(integer_of("0x16"), 22);
    EXPECT_EQ(integer_of("-0b11"), -3);
    EXPECT_EQ(integer_of("1_000"), 1000);
    EXPECT_EQ(integer_of("1:30"), 90);
    EXPECT_EQ(integer_of("+7"), 7);
    EXPECT_EQ(integer_of("99999999999999999999"), std::nullopt);
    EXPECT_EQ(integer_of("999999999999999999:59:59:59"), std::nullopt);
}

TEST(Scalars, NumbersAndTruthsMayBeTexts) {
    const auto number = [](std::string_view text) {
        return number_in(yaml::parse(text, "f").value().root());
    };
    const auto truth = [](std::string_view text) { return truth_in(yaml::parse(text, "f").value().root()); };
    EXPECT_EQ(number("'22'"), 22);
    EXPECT_EQ(number("' -5 '"), -5);
    EXPECT_EQ(number("'022'"), 22) << "a text is decimal";
    EXPECT_EQ(number("1.5"), std::nullopt);
    EXPECT_EQ(number("yes"), std::nullopt);
    EXPECT_EQ(number("[1]"), std::nullopt);
    EXPECT_EQ(truth("'YES'"), true);
    EXPECT_EQ(truth("0"), false);
    EXPECT_EQ(truth("T"), true);
    EXPECT_EQ(truth("maybe"), std::nullopt);
    EXPECT_EQ(truth(""), std::nullopt);
    EXPECT_EQ(truth("!vault yes"), std::nullopt);
}

}  // namespace
}  // namespace cleanslate::inventory
