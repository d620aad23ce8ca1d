#include "agentless/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cleanslate::agentless {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> lines_of(const Frame& frame) {
    std::vector<std::string> lines;
    for (const auto& record : frame.records) {
        std::string line(record.word);
        for (const auto value : record.values) line += " " + std::string(value);
        lines.push_back(line);
    }
    return lines;
}

Frame frame_of(std::string_view out) {
    auto frame = read_frame(out, "n0");
    EXPECT_TRUE(frame.has_value());
    return frame ? *frame : Frame{};
}

TEST(Records, StandBetweenTheMarkersWhateverIsPrintedAround) {
    const auto frame = frame_of(
        "Welcome to gpu01\nbegin n1 1\nend n1\n\nbegin n0 1\na 1\nb-c x%20y -\nend n0\nlogout\nend n0\n");
    EXPECT_TRUE(frame.complete);
    EXPECT_EQ(frame.problem, "");
    EXPECT_THAT(lines_of(frame), ElementsAre("a 1", "b-c x%20y -"));
}

TEST(Records, AreNotCompleteWithoutTheirOwnEnd) {
    for (const auto* out :
         {"begin n0 1\na 1\n", "begin n0 1\na 1\nend n0", "begin n0 1\na 1\nend n00\n", "begin n0 1\n"}) {
        const auto frame = frame_of(out);
        EXPECT_FALSE(frame.complete) << out;
        EXPECT_EQ(frame.problem, "the end record is missing") << out;
    }
}

TEST(Records, NeedTheirOwnBegin) {
    for (const auto* out : {"", "end n0\n", "begin n1 1\nend n1\n", " begin n0 1\nend n0\n", "begin n0 1"})
        EXPECT_FALSE(read_frame(out, "n0").has_value()) << out;
    const auto other = read_frame("begin n0 2\nend n0\n", "n0");
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(other.error().kind, "protocol");
    EXPECT_THAT(other.error().message, HasSubstr("version 2"));
}

TEST(Records, EndAtTheFirstLineThatIsNone) {
    for (const auto* line : {"", "A 1", "a  1", "a 1 ", " a 1", "a \t", "a %2", "a %2G", "a %", "a %2D",
                             "a \xff", "a 1\r", "begin n0 1", "1", "a x\x7fy"}) {
        const std::string out = "begin n0 1\na 1\n" + std::string(line) + "\nb 2\nend n0\n";
        const auto frame = frame_of(out);
        EXPECT_FALSE(frame.complete) << line;
        EXPECT_NE(frame.problem, "") << line;
        EXPECT_THAT(lines_of(frame), ElementsAre("a 1")) << line;
    }
}

TEST(Records, EndAtTheFirstLineThatIsNoneAlsoWhereTheEndFollowsAtOnce) {
    EXPECT_FALSE(frame_of("begin n0 1\na 1\n?\nend n0\n").complete);
    EXPECT_FALSE(frame_of("begin n0 1\na 1\n\nend n0\n").complete);
}

TEST(Records, KeepAllBeforeACutThatFollowsAnEmptyLine) {
    const auto frame = frame_of("begin n0 1\na 1\n\ncut\nreading 7 maps\nend n0\n");
    EXPECT_TRUE(frame.complete);
    EXPECT_THAT(lines_of(frame), ElementsAre("a 1", "cut", "reading 7 maps"));
}

TEST(Records, DropTheRecordThatACutLeftUnfinished) {
    // "open 12" may have been "open 1234 0": it is dropped although it looks like a record.
    for (const auto* half : {"open 12", "o", "open 12 %", "open "}) {
        const std::string out = "begin n0 1\na 1\n" + std::string(half) + "\ncut\nend n0\n";
        const auto frame = frame_of(out);
        EXPECT_TRUE(frame.complete) << half;
        EXPECT_THAT(lines_of(frame), ElementsAre("a 1", "cut")) << half;
    }
}

TEST(Records, AreBoundedInNumberAndLength) {
    EXPECT_FALSE(read_frame("begin n0 1\na\na\na\nend n0\n", "n0", {.line = 100, .records = 2})->complete);
    EXPECT_TRUE(read_frame("begin n0 1\na\na\nend n0\n", "n0", {.line = 100, .records = 2})->complete);
    EXPECT_FALSE(read_frame("begin n0 1\na 345678\nend n0\n", "n0", {.line = 7, .records = 9})->complete);
}

TEST(Escapes, GiveBackEveryByte) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    EXPECT_EQ(unescape(escape(all)), all);
    for (const auto* text : {"-", "--", "a b", "%41", "%", "\n", "end n0\nbegin n0 1"}) {
        EXPECT_EQ(unescape(escape(text)), text);
        EXPECT_EQ(escape(text).find_first_of(" \n"), std::string::npos);
    }
    EXPECT_EQ(escape("-"), "%2d");
    EXPECT_EQ(unescape("-"), "");
}

TEST(Escapes, RefuseWhatWasNotEscaped) {
    for (const auto* text : {"", "a b", "%", "%4", "%4g", "%4A", "\n", "\x80"})
        EXPECT_FALSE(unescape(text)) << text;
}

}  // namespace
}  // namespace cleanslate::agentless
