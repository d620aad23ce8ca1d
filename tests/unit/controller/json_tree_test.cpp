#include "controller/json_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;

// The members of the rest, and how many elements were handed on.
struct Read {
    std::vector<std::string> members;
    std::size_t elements = 0;
    std::string error;
};

Read read(const std::string& text, const JsonBounds& bounds = {}) {
    Read read;
    const auto use = [&](JsonValue&) -> Status {
        ++read.elements;
        return {};
    };
    const auto tree = read_json_object(text, "hosts", use, bounds);
    if (!tree) {
        EXPECT_EQ(tree.error().kind, "json");
        read.error = tree.error().message;
        return read;
    }
    for (const auto& member : std::get<JsonValue::Object>(tree->value)) read.members.push_back(member.name);
    return read;
}

TEST(JsonTree, HandsTheElementsOfTheStreamedListOn) {
    const Read whole = read(R"({"a":1,"hosts":[{"x":[1,2]},7,[8],null],"b":{"hosts":[1]}})");
    EXPECT_EQ(whole.error, "");
    EXPECT_EQ(whole.elements, 4u) << "the inner list of that name is another";
    EXPECT_THAT(whole.members, ElementsAre("a", "hosts", "b"));
}

TEST(JsonTree, EndsWithTheErrorOfWhoUsesAnElement) {
    std::size_t seen = 0;
    const auto use = [&](JsonValue&) -> Status {
        if (++seen == 2) return fail("mine", "enough");
        return {};
    };
    const auto tree = read_json_object(R"({"hosts":[1,2,3]})", "hosts", use, {});
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().kind, "mine");
    EXPECT_EQ(seen, 2u);
}

TEST(JsonTree, KeepsWholeNumbersOf64Bits) {
    const auto tree = read_json_object(R"({"a":18446744073709551615,"b":-9223372036854775808,"c":1.5})", "",
                                       [](JsonValue&) -> Status { return {}; }, {});
    ASSERT_TRUE(tree);
    const auto& members = std::get<JsonValue::Object>(tree->value);
    EXPECT_EQ(std::get<std::uint64_t>(members[0].value.value), UINT64_MAX);
    EXPECT_EQ(std::get<std::int64_t>(members[1].value.value), INT64_MIN);
    EXPECT_EQ(std::get<double>(members[2].value.value), 1.5);
}

TEST(JsonTree, BoundsDepthAndValues) {
    JsonBounds bounds;
    bounds.depth = 3;
    EXPECT_EQ(read(R"({"a":[[1]]})", bounds).error, "");
    EXPECT_EQ(read(R"({"a":[[[1]]]})", bounds).error, "a[0][0]: nested deeper than 3");
    bounds.depth = 32;
    bounds.values_at_once = 4;
    EXPECT_EQ(read(R"({"a":[1,2]})", bounds).error, "");
    EXPECT_EQ(read(R"({"a":[1,2,3]})", bounds).error, "a[2]: more than 4 values");
    EXPECT_EQ(read(R"({"hosts":[[1,2],[1,2],[1,2],[1,2]]})", bounds).error, "") << "of each element";
    bounds.values = 10;
    EXPECT_EQ(read(R"({"hosts":[[1,2],[1,2],[1,2],[1,2]]})", bounds).error,
              "hosts[2][1]: more than 10 values");
}

TEST(JsonTree, BoundsATextAndANumber) {
    JsonBounds bounds;
    bounds.token_bytes = 10;
    EXPECT_EQ(read(R"({"a":"12345678","b":[1234567890]})", bounds).error, "");
    const std::string refusal = "a text or number of more than 10 bytes";
    EXPECT_EQ(read(R"({"a":"123456789"})", bounds).error, refusal);
    EXPECT_EQ(read(R"({"a":"\"\\\"\\\""})", bounds).error, refusal) << "an escaped quote ends no text";
    EXPECT_EQ(read(R"({"a":"\\","b":"\"1\""})", bounds).error, "");
    EXPECT_EQ(read(R"({"a":"never ended)", bounds).error, refusal);
    EXPECT_EQ(read(R"({"a":123456789012})", bounds).error, refusal);
    EXPECT_EQ(read(R"({"123456789":1})", bounds).error, refusal);
}

TEST(JsonTree, RefusesANameThatStandsTwice) {
    EXPECT_EQ(read(R"({"a":1,"b":2,"a":3})").error, "'a' stands twice");
    EXPECT_EQ(read(R"({"hosts":[],"hosts":[]})").error, "'hosts' stands twice");
    EXPECT_EQ(read(R"({"x":{"\u0061":1,"a":2}})").error, "x: 'a' stands twice");
}

}  // namespace
}  // namespace cleanslate::controller::testing
