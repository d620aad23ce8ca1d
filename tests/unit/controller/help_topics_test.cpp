#include "controller/help_topics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "command_line.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// Words of a line as a shell would have them, up to a comment, a pipe or the like: enough for the examples.
Words words_of(const std::string& line) {
    Words words;
    std::string word;
    bool begun = false;
    char quote = 0;
    for (const char c : line + " ") {
        if (quote != 0) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            begun = true;
        } else if (c == ' ') {
            if (word == "|" || word == "||" || word.starts_with('>') || word.starts_with('#')) return words;
            if (begun) words.push_back(word);
            word.clear();
            begun = false;
        } else {
            word += c;
            begun = true;
        }
    }
    return words;
}

// The command lines of a topic, without what is said beside them.
std::vector<Words> examples_of(std::string_view text) {
    std::vector<Words> examples;
    for (const std::string& line : lines_of(text)) {
        if (!line.starts_with("  cleanslate ")) continue;
        const auto remark = line.find("  ", 2);
        auto words = words_of(line.substr(2, remark == std::string::npos ? remark : remark - 2));
        words.erase(words.begin());
        examples.push_back(std::move(words));
    }
    return examples;
}

TEST(Topics, AreEachOneScreenAndEndWithThePageThatHasMore) {
    for (const Topic& topic : topics()) {
        const auto lines = lines_of(topic.text);
        ASSERT_GE(lines.size(), 10u) << topic.name;
        EXPECT_LE(lines.size(), 24u) << topic.name;
        for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << topic.name << ": " << line;
        EXPECT_EQ(lines[1], "") << topic.name;
        ASSERT_THAT(lines.back(), StartsWith("More: docs/")) << topic.name;
        std::istringstream pages(lines.back().substr(6));
        for (std::string page; pages >> page;) {
            if (page.ends_with(',')) page.pop_back();
            EXPECT_TRUE(std::filesystem::exists(std::string(CLEANSLATE_SOURCE_DIR "/") + page)) << page;
        }
    }
}

TEST(Topics, AreTheFilesOfTheFolder) {
    std::set<std::string> files, names;
    for (const auto& file : std::filesystem::directory_iterator(CLEANSLATE_SOURCE_DIR "/controller/help"))
        files.insert(file.path().stem().string());
    for (const std::string& name : topic_names()) names.insert(name);
    EXPECT_EQ(files, names);
}

TEST(Topics, HaveExamplesThatAreRight) {
    const Environment environment{{"CLEANSLATE_INVENTORY", "fleet.yaml"}};
    std::size_t examples = 0;
    for (const Topic& topic : topics())
        for (const Words& words : examples_of(topic.text)) {
            ++examples;
            const auto options = read_command_line(words, environment, "/absent");
            std::string line;
            for (const std::string& word : words) line += " " + word;
            EXPECT_TRUE(options) << topic.name << ":" << line << ": " << (options ? "" : options.error().err);
        }
    EXPECT_GT(examples, 60u);
}

TEST(Topics, NameEachOtherRightly) {
    for (const Topic& topic : topics()) {
        const std::string text(topic.text);
        for (auto at = text.find("`help "); at != std::string::npos; at = text.find("`help ", at + 1)) {
            const auto end = text.find('`', at + 1);
            EXPECT_NE(find_topic(text.substr(at + 6, end - at - 6)), nullptr)
                << text.substr(at, end - at + 1);
        }
    }
}

TEST(HelpCommand, SaysWhatHelpOptionsSay) {
    EXPECT_EQ(help_of({"help"}), help_of({"--help"}));
    for (const std::string command : {"check", "clear", "run", "report", "config", "help"})
        EXPECT_EQ(help_of({"help", command}), help_of({command, "--help"})) << command;
    EXPECT_EQ(help_of({"help", "history", "show"}), help_of({"history", "show", "--help"}));
}

TEST(HelpCommand, ExplainsTopics) {
    for (const Topic& topic : topics())
        EXPECT_THAT(help_of({"help", std::string(topic.name)}), EndsWith(std::string(topic.text)));
    const std::string both = help_of({"help", "hosts"});
    EXPECT_THAT(both, StartsWith(help_of({"hosts", "--help"}))) << "a command of the same name comes first";
    const std::string table = help_of({"help", "topics"});
    for (const Topic& topic : topics()) EXPECT_THAT(table, HasSubstr(std::string(topic.summary())));
    for (const std::string& line : lines_of(table)) EXPECT_LE(line.size(), 80u) << line;
}

TEST(HelpCommand, NamesTheNearTopicOfAWrongOne) {
    EXPECT_THAT(refusal({"help", "verdict"}),
                HasSubstr("no topic or command verdict. Did you mean verdicts?"));
    EXPECT_THAT(refusal({"help", "cler"}), HasSubstr("Did you mean clear?"));
    EXPECT_THAT(refusal({"help", "history", "shwo"}),
                HasSubstr("no history action shwo. Did you mean show?"));
    EXPECT_THAT(refusal({"help", "weather"}), HasSubstr("known: examples, hosts, "));
}

TEST(HelpCommand, IsListedWithItsTopics) {
    const std::string help = help_of({"--help"});
    EXPECT_THAT(help, HasSubstr("\n  help "));
    EXPECT_THAT(help, HasSubstr("Topics of `cleanslate help TOPIC`: examples, hosts,"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
