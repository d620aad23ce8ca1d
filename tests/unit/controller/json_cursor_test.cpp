#include "controller/json_cursor.hpp"

#include <gtest/gtest.h>

namespace cleanslate::controller::testing {
namespace {

enum class Fruit { apple, pear };
std::string_view to_string(Fruit fruit) { return fruit == Fruit::apple ? "apple" : "pear"; }
constexpr Fruit fruits[] = {Fruit::apple, Fruit::pear};

// A value as the member `x` of an object, and what is noted about it.
class JsonCursorTest : public ::testing::Test {
  protected:
    JsonCursor value(const std::string& text) {
        trouble_ = JsonTrouble();
        tree_ =
            read_json_object("{\"x\":" + text + "}", "", [](JsonValue&) -> Status { return {}; }, {}).value();
        root_.emplace(tree_, trouble_);
        return root_->member("x");
    }
    std::string said() const { return trouble_ ? trouble_.first() : ""; }
    JsonValue tree_;
    JsonTrouble trouble_;
    std::optional<JsonCursor> root_;
};

TEST_F(JsonCursorTest, ReadsWhatFits) {
    EXPECT_TRUE(value("true").boolean());
    EXPECT_EQ(value("\"a\\nb\"").text(), "a\\x0Ab");
    EXPECT_EQ(value("\"a\\nb\"").lines(), "a\nb");
    EXPECT_EQ(value("null").text_or_empty(), "");
    EXPECT_EQ(value("null").text_or_null(), std::nullopt);
    EXPECT_EQ(value("\"\"").text_or_null(), "");
    EXPECT_EQ(value("-7").number<int>(), -7);
    EXPECT_EQ(value("18446744073709551615").number<std::uint64_t>(), UINT64_MAX);
    EXPECT_EQ(value("null").number_or_null<int>(), std::nullopt);
    EXPECT_EQ(value("1.2").seconds(), Milliseconds{1200});
    EXPECT_EQ(value("2").seconds(), Milliseconds{2000});
    EXPECT_EQ(value("0").seconds_or_null(), Milliseconds{0});
    EXPECT_EQ(value("76107").mib_or_null(), Mebibytes{76'107});
    EXPECT_EQ(value("\"S\"").letter_or_mark(), 'S');
    EXPECT_EQ(value("null").letter_or_mark(), '?');
    EXPECT_EQ(value("\"pear\"").word(fruits), Fruit::pear);
    EXPECT_EQ(said(), "");
}

TEST_F(JsonCursorTest, SaysWhatDoesNotFitAndReadsAHarmlessValue) {
    EXPECT_FALSE(value("1").boolean());
    EXPECT_EQ(said(), "x: wants true or false, not 1");
    EXPECT_EQ(value("[]").text(), "");
    EXPECT_EQ(said(), "x: wants a text, not a list");
    EXPECT_EQ(value("300").number<int>(1, 255), 1);
    EXPECT_EQ(said(), "x: wants a whole number from 1 to 255, not 300");
    EXPECT_EQ(value("-1").number<std::uint16_t>(), 0);
    EXPECT_EQ(said(), "x: wants a whole number from 0 to 65535, not -1");
    EXPECT_EQ(value("1.5").number<int>(), 0);
    EXPECT_EQ(value("-0.5").seconds(), Milliseconds{0});
    EXPECT_EQ(said(), "x: wants seconds from 0 on, not -0.5");
    EXPECT_EQ(value("1e300").seconds(), Milliseconds{0});
    EXPECT_EQ(value("\"plum\"").word(fruits), Fruit::apple);
    EXPECT_EQ(said(), "x: wants one of apple, pear, not 'plum'");
    EXPECT_EQ(value("\"\xc3\xb6\"").letter_or_mark(), '?');
    EXPECT_EQ(said(), "x: wants one letter, not '\xc3\xb6'");
}

TEST_F(JsonCursorTest, NamesThePlaceAndTheFirstThingAlone) {
    const JsonCursor list = value(R"([{"y":[1,2,"three"]},{"y":"no list"}])");
    std::size_t read = 0;
    list.each([&](const JsonCursor& element) {
        element.member("y").each([&](const JsonCursor& number) {
            number.number<int>();
            ++read;
        });
    });
    EXPECT_EQ(said(), "x[0].y[2]: wants a whole number from -2147483648 to 2147483647, not 'three'");
    EXPECT_EQ(read, 3u) << "the rest is not looked at";
}

TEST_F(JsonCursorTest, TellsMissingMembersFromThoseThatNeedNotBeThere) {
    const JsonCursor object = value(R"({"b":1,"a":2})");
    EXPECT_EQ(object.member("a").number<int>(), 2);
    EXPECT_EQ(object.member("b").number<int>(), 1) << "in any order";
    EXPECT_FALSE(object.known("c"));
    EXPECT_EQ(said(), "");
    EXPECT_TRUE(object.member("c").is_null());
    EXPECT_EQ(said(), "x.c: it is missing");
    EXPECT_TRUE(value("[]").member("a").is_null());
    EXPECT_EQ(said(), "x: wants an object, not a list");
}

}  // namespace
}  // namespace cleanslate::controller::testing
