#include "base/text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cleanslate {
namespace {

TEST(Trim, TakesBlanksOffBothEnds) {
    EXPECT_EQ(trim(" \t a b \r\n"), "a b");
    EXPECT_EQ(trim(" \n"), "");
    EXPECT_EQ(trim(""), "");
    EXPECT_EQ(trim("\va"), "\va");
}

TEST(Split, KeepsEmptyParts) {
    EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
    EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(StartsWithAny, LooksAtTheFrontOnly) {
    EXPECT_TRUE(starts_with_any("nccl-1", {"psm_", "nccl-"}));
    EXPECT_FALSE(starts_with_any("xnccl-1", {"psm_", "nccl-"}));
    EXPECT_FALSE(starts_with_any("a", {}));
}

TEST(ParseNumber, TakesPlainDecimalDigitsOnly) {
    EXPECT_EQ(parse_number("0"), 0U);
    EXPECT_EQ(parse_number("007"), 7U);
    EXPECT_EQ(parse_number("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
    for (const auto* text :
         {"", " 1", "1 ", "+1", "-1", "1.0", "0x1", "1e3", "1,000", "18446744073709551616", "MiB"}) {
        EXPECT_FALSE(parse_number(text)) << text;
    }
    EXPECT_FALSE(parse_number(std::string_view("1\0", 2)));
}

TEST(Printable, LeavesTextAlone) {
    EXPECT_EQ(printable("python3 -m x --name=\\n \"q\""), "python3 -m x --name=\\n \"q\"");
    EXPECT_EQ(printable("Grüße 世界 🚀"), "Grüße 世界 🚀");
}

TEST(Printable, ShowsWhatWouldDriveATerminal) {
    EXPECT_EQ(printable("a\tb\nc\r"), "a\\x09b\\x0Ac\\x0D");
    EXPECT_EQ(printable("\x1b[2J\x7f"), "\\x1B[2J\\x7F");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(printable("\xC2\x9B"), "\\xC2\\x9B") << "C1 control";
    EXPECT_EQ(printable("\xE2\x80\xAE"), "\\xE2\\x80\\xAE") << "right-to-left override";
    EXPECT_EQ(printable("\xE2\x81\xA7"), "\\xE2\\x81\\xA7") << "first strong isolate";
    EXPECT_EQ(printable("\xE2\x80\xA8"), "\\xE2\\x80\\xA8") << "line separator";
    EXPECT_EQ(printable("\xF3\xA0\x81\x81"), "\\xF3\\xA0\\x81\\x81") << "tag character";
}

TEST(Printable, ShowsInvalidUtf8ByteByByte) {
    EXPECT_EQ(printable("a\x80z"), "a\\x80z");
    EXPECT_EQ(printable(std::string(1'000, '~') + "\x7f~"), std::string(1'000, '~') + "\\x7F~");
    EXPECT_EQ(printable("\xC0\xAF"), "\\xC0\\xAF") << "overlong";
    EXPECT_EQ(printable("\xE0\x80\xAF"), "\\xE0\\x80\\xAF") << "overlong";
    EXPECT_EQ(printable("\xED\xA0\x80"), "\\xED\\xA0\\x80") << "surrogate";
    EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80") << "above U+10FFFF";
    EXPECT_EQ(printable("\xE4\xB8"), "\\xE4\\xB8") << "cut";
    EXPECT_EQ(printable("\xE4z"), "\\xE4z") << "the byte after a cut one is not swallowed";
}

TEST(Printable, IsValidUtf8ForEveryPairOfBytes) {
    for (int a = 0; a < 256; ++a) {
        for (int b = 0; b < 256; ++b) {
            const std::string bytes{static_cast<char>(a), static_cast<char>(b)};
            const std::string shown = printable(bytes);
            ASSERT_FALSE(invalid_utf8(shown)) << a << " " << b;
            ASSERT_EQ(printable(shown), shown) << a << " " << b;
        }
    }
}

TEST(InvalidUtf8, NamesTheFirstBadByte) {
    EXPECT_EQ(invalid_utf8("Grüße"), std::nullopt);
    EXPECT_EQ(invalid_utf8("ab\xFF"), 2U);
    EXPECT_EQ(invalid_utf8("\xC3"), 0U);
}

TEST(Ellipsize, CutsAtCodePoints) {
    EXPECT_EQ(ellipsize("short", 5), "short");
    EXPECT_EQ(ellipsize("longer text", 8), "longe...");
    EXPECT_EQ(ellipsize("äöüäöü", 6), "äöüäöü");
    EXPECT_EQ(ellipsize("äöüäöüä", 6), "äöü...");
    EXPECT_EQ(ellipsize("abcdef", 3), "...");
    EXPECT_EQ(ellipsize("abcdef", 2), "..");
    EXPECT_EQ(ellipsize("abcdef", 0), "");
    EXPECT_EQ(ellipsize("", 0), "");
}

TEST(Ellipsize, CountsAnInvalidByteAsOne) { EXPECT_EQ(ellipsize("\xFF\xFF\xFF\xFF\xFF", 4), "\xFF..."); }

TEST(Rfc3339, IsUtcInWholeSeconds) {
    EXPECT_EQ(rfc3339(1'795'953'600), "2026-11-29T12:00:00Z");
    EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(rfc3339(-1), "1969-12-31T23:59:59Z");
    EXPECT_EQ(rfc3339(951'782'400), "2000-02-29T00:00:00Z");
}

TEST(Rfc3339, ClampsTheEndsOfTime) {
    EXPECT_EQ(rfc3339(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59Z");
    EXPECT_EQ(rfc3339(std::numeric_limits<std::int64_t>::min()), "0000-01-01T00:00:00Z");
}

}  // namespace
}  // namespace cleanslate
