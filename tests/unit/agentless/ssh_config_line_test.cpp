#include "agentless/ssh/ssh_config_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace cleanslate::agentless::ssh {
namespace {

std::string read(std::string_view text) {
    const auto line = config_line(text);
    return line ? fmt::format("{}|{}", line->keyword, line->rest) : "-";
}

std::string words(std::string_view text) {
    const auto found = argument_words(text);
    return found ? fmt::format("{}", fmt::join(*found, "|")) : "a quote has no end";
}

std::string keyword_words(std::string_view text) {
    KeywordWords rest(text);
    std::string all;
    for (auto word = rest.next(); word && !word->empty(); word = rest.next()) all += *word + "|";
    return all;
}

TEST(SshConfigLine, IsAKeywordAndItsRest) {
    EXPECT_EQ(read("User root"), "User|root");
    EXPECT_EQ(read("  \t User \t root \r"), "User|root");
    EXPECT_EQ(read("User=root"), "User|root");
    EXPECT_EQ(read("User = root"), "User|root");
    EXPECT_EQ(read("User == root"), "User|= root") << "one equals sign only";
    EXPECT_EQ(read("\"User\" root"), "User|root");
    EXPECT_EQ(read("User root\f"), "User|root");
    EXPECT_EQ(read("User"), "User|");
    EXPECT_EQ(read("User root # her"), "User|root # her") << "arguments know comments themselves";
    EXPECT_EQ(read(std::string_view("User root\0Port 24", 17)), "User|root");
}

TEST(SshConfigLine, IsNothingWhereItIsEmptyOrAComment) {
    for (const auto* text : {"", " ", "\t\r", "# User root", "   #", "\"User root"})
        EXPECT_EQ(read(text), "-");
}

TEST(SshConfigLine, ArgumentsAreWordsWithQuotes) {
    EXPECT_EQ(words("a  b\tc"), "a|b|c");
    EXPECT_EQ(words("\"a b\" 'c d'"), "a b|c d");
    EXPECT_EQ(words("a\"b c\"d'e f'"), "ab cde f");
    EXPECT_EQ(words("\"it's\""), "it's");
    EXPECT_EQ(words(R"(a\ b \"c \\d \e)"), R"(a b|"c|\d|\e)");
    EXPECT_EQ(words(R"("a\ b")"), R"(a\ b)") << "a blank needs no backslash inside of quotes";
    EXPECT_EQ(words("\"\""), "");
    EXPECT_EQ(argument_words("\"\"")->size(), 1u);
}

TEST(SshConfigLine, ArgumentsEndAtAComment) {
    EXPECT_EQ(words("a # b"), "a");
    EXPECT_EQ(words("a#b"), "a#b");
    EXPECT_EQ(words("# a"), "");
    EXPECT_EQ(words("\"# a\""), "# a");
}

TEST(SshConfigLine, AQuoteHasAnEnd) {
    for (const auto* text : {"\"", "'a", "a \"b c", "\"a\\\"", "it's"})
        EXPECT_EQ(words(text), "a quote has no end") << text;
}

TEST(SshConfigLine, MatchHasWordsOfItsOwnKind) {
    EXPECT_EQ(keyword_words("host a,b user=root"), "host|a,b|user|root|");
    EXPECT_EQ(keyword_words("host = \"a b\" # c"), "host|a b|#|c|");
    EXPECT_EQ(keyword_words("a\"b"), "") << "a quote without its end ends it all";
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
