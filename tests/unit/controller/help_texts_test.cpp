#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "command_line.hpp"
#include "controller/help_texts.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* commands[] = {"check",  "clear",    "run",     "hosts",     "playbooks",
                                    "parse",  "baseline", "explain", "audit",     "trust",
                                    "report", "history",  "config",  "completion"};
constexpr const char* actions[] = {"show", "diff", "top", "prune"};

TEST(Help, OfEachCommandHasItsUsageAndAnExample) {
    EXPECT_THAT(help_of({"--help"}), HasSubstr("Examples:\n  cleanslate "));
    for (const std::string command : commands) {
        const std::string help = help_of({command, "--help"});
        EXPECT_THAT(help, HasSubstr("Usage: cleanslate " + command));
        EXPECT_THAT(help, HasSubstr("Example"));
        EXPECT_THAT(help, HasSubstr("cleanslate " + command + " ")) << help;
        EXPECT_EQ(help_of({command, "-h"}), help);
    }
}

TEST(Help, OfEachActionOfTheHistoryToo) {
    for (const std::string action : actions) {
        const std::string help = help_of({"history", action, "--help"});
        EXPECT_THAT(help, HasSubstr("Usage: cleanslate history " + action));
        EXPECT_THAT(help, HasSubstr("Examples:\n  cleanslate history " + action));
        EXPECT_THAT(help_of({"history", "-h"}), HasSubstr("\n  " + action + " "));
    }
}

TEST(Help, ListsEachCommand) {
    for (const std::string command : commands)
        EXPECT_THAT(help_of({"-h"}), HasSubstr("\n  " + command + " "));
}

TEST(Help, FitsEightyColumns) {
    std::vector<Words> all{{"--help"}};
    for (const std::string command : commands) all.push_back({command, "--help"});
    for (const std::string action : actions) all.push_back({"history", action, "--help"});
    for (const Words& words : all) {
        std::istringstream help(help_of(words));
        for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 80u) << line;
    }
}

// Each option's whole text, which may go over several lines.
std::vector<std::string> entries_of(const std::string& help) {
    std::vector<std::string> entries;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  -"))
            entries.push_back(line);
        else if (line.starts_with("     ") && !entries.empty())
            entries.back() += " " + line.substr(26);
        else if (!line.starts_with("  "))
            entries.emplace_back();
    }
    std::erase(entries, "");
    return entries;
}

TEST(Help, SaysEachDefault) {
    // Off unless given, as any flag without a value.
    const Words flags{"--help", "--yes", "--local", "--verbose", "--quiet", "--no-history"};
    std::vector<Words> all;
    for (const std::string command : commands) all.push_back({command, "--help"});
    for (const std::string action : actions) all.push_back({"history", action, "--help"});
    for (const Words& words : all) {
        const auto entries = entries_of(help_of(words));
        EXPECT_FALSE(entries.empty());
        for (const std::string& entry : entries) {
            const auto names = [&](const std::string& flag) { return entry.find(flag) != std::string::npos; };
            EXPECT_TRUE(names("default") || std::ranges::any_of(flags, names))
                << words[0] << " " << words[1] << ": " << entry;
        }
    }
}

TEST(Help, SaysTheDefaultsThatHold) {
    const std::string help = help_of({"clear", "--help"});
    for (const char* text : {"no limit", "default 1)", "default: withheld", "sudo -n", "default 128",
                             "default 60s", "else 10s", "default clear", "else 100MiB", "default 2s",
                             "else strict", "default text", "default auto", "default 50MiB"})
        EXPECT_THAT(help, HasSubstr(text));
}

}  // namespace
}  // namespace cleanslate::controller::testing
