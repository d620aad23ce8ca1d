#include "controller/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace cleanslate::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Page, WritesALineAsLongAsItIs) {
    Page page(10, false);
    page.line(2, {{"one two three"}, {" four"}});
    EXPECT_EQ(page.take(), "  one two three four\n");
}

TEST(Page, CutsALineToItsColumns) {
    Page page(10, false);
    page.cut(2, {{"one "}, {"two three"}, {" four"}});
    EXPECT_EQ(page.take(), "  one t...\n");
}

TEST(Page, KeepsALineThatJustFits) {
    Page page(10, false);
    page.cut(0, {{"12345"}, {"67890"}});
    EXPECT_EQ(page.take(), "1234567890\n");
}

TEST(Page, LetsNoByteOfAHostSteerTheTerminal) {
    Page page(80, false);
    page.line(0, {{"\x1b[31mred\x07\x9b\r\n\xe2\x80\xae"}});
    page.cut(0, {{"\x1b]0;title\x07"}});
    page.wrapped(0, "a\x1b[2J b");
    const std::string out = page.take();
    EXPECT_THAT(out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(out, Not(HasSubstr("\r")));
    EXPECT_THAT(out, Not(HasSubstr("\x07")));
    EXPECT_THAT(out, Not(HasSubstr("\x9b")));
    EXPECT_THAT(out, Not(HasSubstr("\xe2\x80\xae")));
    EXPECT_THAT(out, HasSubstr("\\x1B[31mred"));
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
}

TEST(Page, ColoursOnlyWhereItMay) {
    Page plain(80, false), coloured(80, true);
    plain.line(0, {word_of(agentless::Verdict::clean)});
    coloured.line(0, {word_of(agentless::Verdict::clean), {" "}, {"", Style::red}});
    EXPECT_EQ(plain.take(), "clean\n");
    EXPECT_EQ(coloured.take(), "\x1b[32mclean\x1b[0m \n");
}

TEST(Page, FlowsSpansOverLines) {
    Page page(12, true);
    page.flow(0, 2, {{"gpu01", Style::bold}, {" "}, {"clean", Style::green}, {": TERM to 2"}});
    EXPECT_EQ(page.take(), "\x1b[1mgpu01\x1b[0m \x1b[32mclean\x1b[0m:\n  TERM to 2\n");
    Page plain(10, false);
    plain.flow(1, 2, {{"a bb ccc"}, {" dddd"}});
    EXPECT_EQ(plain.take(), " a bb ccc\n   dddd\n");
    plain.flow(0, 4, {});
    EXPECT_EQ(plain.take(), "\n");
}

TEST(Page, KeepsWholeWhatMayNotBeBroken) {
    Page page(10, false);
    page.flow(0, 2,
              {{"a b; ", Style::plain, Breaks::around}, {"one two three", Style::plain, Breaks::around}});
    EXPECT_EQ(page.take(), "a b;\n  one two three\n");
    page.flow(0, 2, {{"gpu[01,03,05] (3)"}, {" clean"}});
    EXPECT_EQ(page.take(), "gpu[01,03,05]\n  (3)\n  clean\n");
    page.flow(0, 2, {{"gpu[01,03,05] (3)", Style::plain, Breaks::at_commas_too}, {" clean"}});
    EXPECT_EQ(page.take(), "gpu[01,03,\n  05] (3)\n  clean\n");
}

TEST(Page, MeasuresWideTextInColumns) {
    Page page(10, false);
    page.cut(0, {{"山田太郎さん"}});
    EXPECT_EQ(page.take(), "山田太...\n");
    page.flow(0, 0, {{"山田 太郎 さん"}});
    EXPECT_EQ(page.take(), "山田 太郎\nさん\n");
}

TEST(Page, BreaksTextAtBlanks) {
    EXPECT_THAT(wrap("a bb ccc dddd", 6), ElementsAre("a bb", "ccc", "dddd"));
    EXPECT_THAT(wrap("a-very-long-word b", 6), ElementsAre("a-very-long-word", "b"));
    EXPECT_THAT(wrap("", 6), ElementsAre());
    EXPECT_THAT(wrap("   ", 6), ElementsAre());
}

TEST(Page, LetsNoTextOfAHostBeginALineInABox) {
    const std::string wide = "\xef\xbc\xa1";  // a letter of two columns
    std::string long_word, wide_word;
    for (int i = 0; i < 300; ++i) long_word += "x", wide_word += wide;
    for (const std::string& text : {"a " + long_word + " b", wide_word, long_word + wide_word,
                                    std::string("\xff\xff ") + wide_word + "\n"}) {
        Page page(60, false);
        page.boxed(12, text);
        const std::string out = page.take();
        std::string joined;
        for (const auto line : split(out, '\n')) {
            if (line.empty()) continue;
            EXPECT_TRUE(line.starts_with(std::string(12, ' '))) << line;
            EXPECT_LE(most_columns_of(line), 60u) << line;
            joined += line.substr(12);
        }
        std::string all = printable(text);
        std::erase(all, ' ');
        std::erase(joined, ' ');
        EXPECT_EQ(joined, all) << "nothing is left out";
    }
    Page page(60, false);
    page.boxed(4, "two words");
    EXPECT_EQ(page.take(), "    two words\n");
}

TEST(Page, GivesWhatWasWrittenOnce) {
    Page page(80, false);
    page.line(0, {{"x"}});
    EXPECT_EQ(page.take(), "x\n");
    EXPECT_EQ(page.take(), "");
}

TEST(PrintableLines, KeepsLineEndsAndTabsAndNothingElse) {
    EXPECT_EQ(printable_lines("a\tb\r\nc\x1b[0m\n"), "a\tb\nc\\x1B[0m\n");
    EXPECT_EQ(printable_lines("\xff"), "\\xFF");
    EXPECT_EQ(printable_lines(""), "");
}

TEST(CountOf, KnowsItsPlural) {
    EXPECT_EQ(count_of(1, "host"), "1 host");
    EXPECT_EQ(count_of(0, "host"), "0 hosts");
    EXPECT_EQ(count_of(2, "process", "processes"), "2 processes");
}

}  // namespace
}  // namespace cleanslate::controller
