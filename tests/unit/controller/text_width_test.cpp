#include "controller/text_width.hpp"

#include <gtest/gtest.h>

namespace cleanslate::controller {
namespace {

TEST(TextWidth, IsTwoForWideCharactersAndNoneForMarks) {
    EXPECT_EQ(width_of(""), 0u);
    EXPECT_EQ(width_of("gpu01"), 5u);
    EXPECT_EQ(width_of("é"), 1u);
    EXPECT_EQ(width_of("e\u0301"), 1u);
    EXPECT_EQ(width_of("山田"), 4u);
    EXPECT_EQ(width_of("한글"), 4u);
    EXPECT_EQ(width_of("\uFF21"), 2u);
    EXPECT_EQ(width_of("🚀"), 2u);
    EXPECT_EQ(width_of("→ß"), 2u);
}

TEST(TextWidth, CountsBytesOfWhatIsNoUtf8) {
    EXPECT_EQ(width_of("\xff\xfe"), 2u);
    EXPECT_EQ(width_of("\xe5\xb1"), 2u) << "cut short";
    EXPECT_EQ(width_of("\xe5xy"), 3u);
}

TEST(TextWidth, IsNeverMoreThanTheMost) {
    for (const char* text : {"gpu", "山田", "é", "e\u0301", "🚀x", "\u0e01\u0e34"})
        EXPECT_LE(width_of(text), most_columns_of(text)) << text;
}

TEST(Shortened, CutsAtColumnsAndSaysSo) {
    EXPECT_EQ(shortened("abcdef", 6), "abcdef");
    EXPECT_EQ(shortened("abcdefg", 6), "abc...");
    EXPECT_EQ(shortened("山田太郎", 8), "山田太郎");
    EXPECT_EQ(shortened("山田太郎", 7), "山田...");
    EXPECT_EQ(shortened("山田太郎", 6), "山...");
    EXPECT_EQ(shortened("e\u0301e\u0301e\u0301e\u0301", 4), "e\u0301e\u0301e\u0301e\u0301");
    EXPECT_EQ(shortened("abcdef", 2), "..");
    EXPECT_EQ(shortened("", 0), "");
}

}  // namespace
}  // namespace cleanslate::controller
