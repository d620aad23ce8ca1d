#include "controller/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "controller/file_handle.hpp"
#include "controller/files.hpp"

namespace cleanslate::controller {
namespace {

TEST(Colour, IsForTerminalsUnlessAskedOtherwise) {
    EXPECT_TRUE(use_color(ColorMode::automatic, true, {}));
    EXPECT_FALSE(use_color(ColorMode::automatic, false, {}));
    EXPECT_FALSE(use_color(ColorMode::automatic, true, {{"NO_COLOR", "1"}}));
    EXPECT_TRUE(use_color(ColorMode::automatic, true, {{"NO_COLOR", ""}}));
    EXPECT_FALSE(use_color(ColorMode::automatic, true, {{"TERM", "dumb"}}));
    EXPECT_TRUE(use_color(ColorMode::always, false, {{"NO_COLOR", "1"}}));
    EXPECT_FALSE(use_color(ColorMode::never, true, {}));
}

TEST(CanAsk, WhereTheQuestionIsSeenAndTheAnswerCanBeTyped) {
    const Options options;
    EXPECT_TRUE(can_ask({.in = true, .out = false, .err = true}, options));
    EXPECT_FALSE(can_ask({.in = true, .out = true, .err = false}, options));
    EXPECT_FALSE(can_ask({.in = false, .out = true, .err = true}, options));
}

Answer answer_to(std::string_view typed, std::string* asked = nullptr) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return Answer::interrupted;
    const FileHandle read_in(in[0]), read_out(out[0]);
    FileHandle write_in(in[1]), write_out(out[1]);
    if (!write_all(write_in.get(), typed)) return Answer::interrupted;
    write_in = FileHandle();
    const Answer answer = ask_on(read_in.get(), write_out.get(), "Proceed? [y/N] ", -1);
    char text[64] = {};
    if (asked != nullptr && ::read(read_out.get(), text, sizeof text - 1) > 0) *asked = text;
    return answer;
}

TEST(Ask, TakesOnlyAYesForAYes) {
    for (const char* yes : {"y\n", "Y\n", "yes\n", "YES\n", " y \n", "y\r\n"})
        EXPECT_EQ(answer_to(yes), Answer::yes);
    for (const char* no : {"\n", "n\n", "no\n", "yeah\n", "yes please\n", "\x1b[Ay\n", "", "y"})
        EXPECT_EQ(answer_to(no), Answer::no) << no;
}

TEST(Ask, TakesTheFirstLineOnly) {
    EXPECT_EQ(answer_to("n\ny\n"), Answer::no);
    EXPECT_EQ(answer_to("y\nn\n"), Answer::yes);
}

TEST(Ask, DoesNotReadForEver) { EXPECT_EQ(answer_to(std::string(20'000, 'y')), Answer::no); }

TEST(Ask, ShowsTheQuestion) {
    std::string asked;
    answer_to("n\n", &asked);
    EXPECT_EQ(asked, "Proceed? [y/N] ");
}

TEST(Ask, EndsWhenASignalCame) {
    int in[2];
    ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
    const FileHandle read_in(in[0]), write_in(in[1]);
    const FileHandle stop(::eventfd(1, EFD_CLOEXEC)), null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    EXPECT_EQ(ask_on(read_in.get(), null.get(), "?", stop.get()), Answer::interrupted);
}

}  // namespace
}  // namespace cleanslate::controller
