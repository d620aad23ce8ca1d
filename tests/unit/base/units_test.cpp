#include "base/units.hpp"

#include <gtest/gtest.h>

namespace cleanslate {
namespace {

using namespace std::chrono_literals;

TEST(Duration, IsAnIntegerAndAUnit) {
    EXPECT_EQ(parse_duration("500ms").value(), 500ms);
    EXPECT_EQ(parse_duration("2s").value(), 2s);
    EXPECT_EQ(parse_duration("10m").value(), 10min);
    EXPECT_EQ(parse_duration("12h").value(), 12h);
    EXPECT_EQ(parse_duration("7d").value(), 7 * 24h);
    EXPECT_EQ(parse_duration("0s").value(), 0ms);
    EXPECT_EQ(parse_duration("3650d").value(), 3650 * 24h);
}

TEST(Duration, RefusesWhatIsNotExactlyThat) {
    for (const auto* text : {"",
                             "s",
                             "10",
                             "1.5s",
                             "-1s",
                             "+1s",
                             " 1s",
                             "1s ",
                             "1 s",
                             "1S",
                             "1min",
                             "1sec",
                             "1w",
                             "0x1s",
                             "3651d",
                             "99999999999999999999s",
                             "9223372036854775807d",
                             "1s2s",
                             "\n1s",
                             "ms"}) {
        const auto parsed = parse_duration(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().kind, "usage");
        EXPECT_NE(parsed.error().remedy.find("500ms"), std::string::npos);
    }
}

TEST(Duration, AnErrorShowsHostileTextSafelyAndShort) {
    const auto parsed = parse_duration("\x1b[2J" + std::string(10'000, 'x'));
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message.find('\x1b'), std::string::npos);
    EXPECT_LT(parsed.error().message.size(), 120U);
}

TEST(Size, IsAnIntegerAndAUnit) {
    EXPECT_EQ(parse_size("100MiB").value(), Mebibytes{100});
    EXPECT_EQ(parse_size("1GiB").value(), Mebibytes{1024});
    EXPECT_EQ(parse_size("1099511627776MiB").value(), Mebibytes{1LL << 40});
}

TEST(Size, RefusesWhatIsNotExactlyThat) {
    for (const auto* text :
         {"", "100", "MiB", "100MB", "100mib", "1.5GiB", "-1MiB", "100 MiB", "1099511627777MiB",
          "18446744073709551616MiB", "18446744073709551615GiB", "1TiB"}) {
        EXPECT_FALSE(parse_size(text)) << text;
    }
}

TEST(FormatDuration, IsShort) {
    EXPECT_EQ(format_duration(0ms), "0.00 s");
    EXPECT_EQ(format_duration(124ms), "0.12 s");
    EXPECT_EQ(format_duration(1900ms), "1.9 s");
    EXPECT_EQ(format_duration(14s), "14 s");
    EXPECT_EQ(format_duration(185s), "3m05s");
    EXPECT_EQ(format_duration(2h + 10min), "2h10m");
    EXPECT_EQ(format_duration(76h), "3d04h");
}

TEST(FormatDuration, RoundsUpIntoTheNextForm) {
    EXPECT_EQ(format_duration(994ms), "0.99 s");
    EXPECT_EQ(format_duration(996ms), "1.0 s");
    EXPECT_EQ(format_duration(9'960ms), "10 s");
    EXPECT_EQ(format_duration(59'600ms), "1m00s");
    EXPECT_EQ(format_duration(3'599'600ms), "1h00m");
}

TEST(FormatDuration, SurvivesTheEndsOfTheRange) {
    EXPECT_EQ(format_duration(Milliseconds::min()), "0.00 s");
    EXPECT_EQ(format_duration(Milliseconds::max()), "106751991167d07h");
}

TEST(Mebibytes, Add) {
    Mebibytes sum{40};
    sum += Mebibytes{2};
    EXPECT_EQ(sum + Mebibytes{1} - Mebibytes{3}, Mebibytes{40});
    EXPECT_LT(Mebibytes{1}, Mebibytes{2});
}

}  // namespace
}  // namespace cleanslate
