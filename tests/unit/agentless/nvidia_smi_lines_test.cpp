#include "agentless/nvidia_smi_lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cleanslate::agentless {
namespace {

struct Seen {
    std::string text;
    bool terminated;
    bool cut;
    friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> lines_of(const std::vector<std::string_view>& pieces) {
    std::vector<Seen> seen;
    LineReader reader([&](const Line& line) {
        seen.push_back({std::string(line.text), line.terminated, line.cut});
    });
    for (const auto piece : pieces) reader.feed(piece);
    reader.finish();
    return seen;
}

const std::string byte_order_mark = "\xEF\xBB\xBF";

TEST(Line, EndsAtItsNewlineAndSaysWhetherThereWasOne) {
    EXPECT_EQ(lines_of({byte_order_mark + "a\n\nb"}),
              (std::vector<Seen>{{"a", true, false}, {"", true, false}, {"b", false, false}}));
    EXPECT_TRUE(lines_of({""}).empty());
    EXPECT_TRUE(lines_of({}).empty());
}

TEST(Line, IsTheSameWhereverTheTextIsCutIntoPieces) {
    const std::string text = byte_order_mark + "0, 0 MiB\r\n\n1, 5 MiB\nend";
    const auto whole = lines_of({text});
    for (std::size_t a = 0; a <= text.size(); ++a)
        for (std::size_t b = a; b <= text.size(); ++b) {
            const std::string_view view = text;
            EXPECT_EQ(lines_of({view.substr(0, a), view.substr(a, b - a), view.substr(b)}), whole) << a << b;
        }
}

TEST(Line, LosesTheByteOrderMarkOnlyInFrontOfTheText) {
    EXPECT_EQ(lines_of({"a\n" + byte_order_mark + "b\n"}),
              (std::vector<Seen>{{"a", true, false}, {byte_order_mark + "b", true, false}}));
}

TEST(Line, ThatIsTooLongIsCutAndSaysSo) {
    const std::string most(longest_line, 'x');
    EXPECT_EQ(lines_of({most + "\nb\n"}), (std::vector<Seen>{{most, true, false}, {"b", true, false}}));
    EXPECT_EQ(lines_of({most + "y\nb\n"}), (std::vector<Seen>{{most, true, true}, {"b", true, false}}));
    EXPECT_EQ(lines_of({most, "y", "\nb\n"}), (std::vector<Seen>{{most, true, true}, {"b", true, false}}));
    EXPECT_EQ(lines_of({most, "y"}), (std::vector<Seen>{{most, false, true}}));
    EXPECT_EQ(lines_of({most, "\n"}), (std::vector<Seen>{{most, true, false}}));
}

TEST(Line, OfAHundredMegabytesIsNeverHeld) {
    std::size_t lines = 0;
    LineReader reader([&](const Line& line) {
        ++lines;
        EXPECT_TRUE(line.cut);
    });
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 100; ++i) {
        reader.feed(piece);
        ASSERT_LE(reader.held(), 2 * longest_line);
    }
    reader.finish();
    EXPECT_EQ(lines, 1u);
}

}  // namespace
}  // namespace cleanslate::agentless
