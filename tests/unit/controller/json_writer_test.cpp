#include "controller/json_writer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.hpp"
#include "controller/json_text.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller {
namespace {

using Json = nlohmann::ordered_json;

std::string written(auto&& write) {
    std::string out;
    JsonWriter json(out);
    write(json);
    return out;
}

std::string text(std::string_view value) {
    return written([&](JsonWriter& json) { json.text(value); });
}

TEST(JsonWriter, PutsCommasWhereTheyBelong) {
    const std::vector<int> none, two{1, 2};
    const auto number = [](JsonWriter& json) { return [&json](int value) { json.number(value); }; };
    EXPECT_EQ(written([&](JsonWriter& json) {
                  json.object([&] {
                      json.key("a").number(-1);
                      json.key("b").list(two, number(json));
                      json.key("c").list(none, number(json));
                      json.key("d").object([] {});
                      json.key("e").object([&] { json.key("f").null(); });
                      json.key("g").list(
                          two, [&](int value) { json.object([&] { json.key("n").number(value); }); });
                      json.key("h").boolean(true);
                      json.key("i").boolean(false);
                  });
              }),
              R"({"a":-1,"b":[1,2],"c":[],"d":{},"e":{"f":null},"g":[{"n":1},{"n":2}],"h":true,"i":false})");
}

TEST(JsonWriter, EscapesWhatJsonNeedsAndWhatATerminalCouldFollow) {
    EXPECT_EQ(text("plain ~text/1"), "\"plain ~text/1\"");
    EXPECT_EQ(text("a \"b\" \\ c"), R"("a \"b\" \\ c")");
    EXPECT_EQ(text("\x1b[2J"), R"("\\x1B[2J")");
    EXPECT_EQ(text("\x7f\xff"), R"("\\x7F\\xFF")");
    EXPECT_EQ(text(std::string_view("\0", 1)), R"("\\x00")");
    EXPECT_EQ(text("k\xc3\xa4se"), "\"k\xc3\xa4se\"");
    EXPECT_EQ(text(""), "\"\"");
    EXPECT_EQ(written([](JsonWriter& json) { json.lines("a\tb\r\n\"c\x01"); }), R"("a\tb\n\"c\\x01")");
}

TEST(JsonWriter, WritesEveryByteAsTheLibraryDoes) {
    for (int first = 0; first < 256; ++first) {
        for (const int second :
             {0x00, 0x0A, 0x20, 0x22, 0x41, 0x5C, 0x7E, 0x7F, 0x80, 0xA4, 0xC3, 0xE2, 0xFF}) {
            const std::string bytes = {'x', static_cast<char>(first), static_cast<char>(second), '"'};
            EXPECT_EQ(text(bytes), dump(Json(printable(bytes)))) << first << ' ' << second;
            EXPECT_EQ(written([&](JsonWriter& json) { json.lines(bytes); }),
                      dump(Json(printable_lines(bytes))));
        }
    }
}

TEST(JsonWriter, WritesSecondsAsTheLibraryDoes) {
    const auto seconds = [](std::int64_t count) {
        return written([&](JsonWriter& json) { json.seconds(Milliseconds{count}); });
    };
    EXPECT_EQ(seconds(1'200), "1.2");
    EXPECT_EQ(seconds(30), "0.03");
    EXPECT_EQ(seconds(2'000), "2.0");
    EXPECT_EQ(seconds(0), "0.0");
    EXPECT_EQ(seconds(-1'005), "-1.005");
    EXPECT_EQ(seconds(std::numeric_limits<std::int64_t>::min()), "-9223372036854775.808");
    for (std::int64_t count = -3'000; count < 200'000; count += 7)
        ASSERT_EQ(seconds(count), dump(seconds_or_null(Milliseconds{count}))) << count;
}

TEST(JsonWriter, WritesWhatWasNotObservedAsNull) {
    EXPECT_EQ(
        written([](JsonWriter& json) {
            json.object([&] {
                json.key("empty").text_or_null(std::string());
                json.key("absent").text_or_null(std::optional<std::string>());
                json.key("observed").text_or_null(std::optional<std::string>(""));
                json.key("mib").mib_or_null(Mebibytes{5});
                json.key("no_mib").mib_or_null(std::nullopt);
                json.key("number").number_or_null(std::optional<std::uint64_t>(1ULL << 63));
                json.key("no_seconds").seconds_or_null(std::nullopt);
            });
        }),
        R"({"empty":null,"absent":null,"observed":"","mib":5,"no_mib":null,"number":9223372036854775808,)"
        R"("no_seconds":null})");
}

TEST(JsonWriter, EscapesKeysThatAreNotOurs) {
    const std::string out = written([](JsonWriter& json) {
        json.object([&] { json.foreign_key("a\"b").text("x"), json.key("c").null(); });
    });
    EXPECT_EQ(out, R"({"a\"b":"x","c":null})");
}

}  // namespace
}  // namespace cleanslate::controller
