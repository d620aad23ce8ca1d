#include "agentless/ssh/ssh_config_parser.hpp"

#include <gtest/gtest.h>

#include <map>

#include "agentless/ssh/ssh_config_match.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// Files that exist in this map alone.
ConfigSource in_memory(const std::map<std::string, std::string>& files) {
    ConfigSource source;
    source.matching = [files](const std::string& pattern) -> Result<std::vector<std::string>> {
        std::vector<std::string> found;
        for (const auto& [name, text] : files)
            if (matches_pattern(name, pattern)) found.push_back(name);
        return found;
    };
    source.read = [files](const std::string& path, bool) -> Result<std::optional<std::string>> {
        const auto found = files.find(path);
        if (found == files.end()) return std::nullopt;
        if (found->second == "unreadable") return fail("usage", path + ": permission denied", "chmod it");
        return std::optional(found->second);
    };
    return source;
}

Result<ConfigSections> parse(const std::map<std::string, std::string>& files, ConfigFile first = {"c"}) {
    return parse_config({first}, in_memory(files), "/home/op");
}

std::string refusal(const std::map<std::string, std::string>& files, ConfigFile first = {"c"}) {
    const auto parsed = parse(files, first);
    if (parsed) return "";
    EXPECT_EQ(parsed.error().kind, "usage");
    return parsed.error().message;
}

std::size_t directives(const Result<ConfigSections>& parsed) {
    std::size_t count = 0;
    for (const auto& section : parsed->sections) count += section.directives.size();
    return count;
}

TEST(SshConfigParser, SectionsBelongToTheSectionAroundTheirInclude) {
    const auto parsed = parse({{"c", "User a\nHost x\n Include /one\n Port 24\nHost *\n"},
                               {"/one", "User b\nMatch all\n User c\n"}});
    ASSERT_TRUE(parsed) << parsed.error().message;
    const auto& sections = parsed->sections;
    ASSERT_EQ(sections.size(), 6u);
    EXPECT_EQ(sections[0].parent, std::nullopt);
    EXPECT_EQ(sections[1].hosts[0].text, "x");
    EXPECT_EQ(sections[2].parent, 1u) << "the included file's own lines";
    EXPECT_EQ(sections[3].parent, 1u) << "its Match";
    EXPECT_EQ(sections[4].parent, 1u) << "what follows the Include";
    EXPECT_EQ(sections[4].directives[0].line, 4);
    EXPECT_EQ(sections[5].parent, std::nullopt);
    EXPECT_EQ(parsed->files, (std::vector<std::string>{"c", "/one"}));
}

TEST(SshConfigParser, IncludeIsRelativeToTheFolderOfItsKindOfFile) {
    const std::map<std::string, std::string> files{{"c", "Include d/*\n"},
                                                   {"/home/op/.ssh/d/a", "User a\n"},
                                                   {"/etc/ssh/d/b", "User b\nUser c\n"},
                                                   {"tilde", "Include ~/.ssh/d/a\n"}};
    EXPECT_EQ(directives(parse(files)), 1u);
    EXPECT_EQ(directives(parse(files, {"c", false})), 2u);
    EXPECT_EQ(directives(parse(files, {"tilde"})), 1u);
    EXPECT_EQ(refusal(files, {"tilde", false}), "tilde:1: Include: ~ belongs into a user's file");
}

TEST(SshConfigParser, IncludesThatGoRoundOrTooDeepAreRefused) {
    EXPECT_EQ(refusal({{"c", "\nInclude /a\n"}, {"/a", "Include /b\n"}, {"/b", "\n\nInclude /*\n"}}),
              "/b:3: Include: /a includes itself");
    std::map<std::string, std::string> chain{{"c", "Include /f00\n"}};
    for (int i = 0; i < 17; ++i)
        chain["/f" + std::string(i < 10 ? "0" : "") + std::to_string(i)] =
            "Include /f" + std::string(i < 9 ? "0" : "") + std::to_string(i + 1) + "\n";
    EXPECT_EQ(refusal(chain), "/f15:1: Include: more than 16 files deep");
    chain["/f15"] = "User a\n";
    EXPECT_EQ(refusal(chain), "");
}

TEST(SshConfigParser, AMazeOfIncludesIsBounded) {
    std::map<std::string, std::string> maze{{"c", "Include /0 /0\n"}};
    for (int i = 0; i < 14; ++i)
        maze["/" + std::to_string(i)] =
            "Include /" + std::to_string(i + 1) + " /" + std::to_string(i + 1) + "\n";
    maze["/14"] = "User a\n";
    EXPECT_EQ(refusal(maze), "more than 4000 files");
}

TEST(SshConfigParser, FilesThatAreAbsentAreEmptyUnlessTheyWereAskedFor) {
    EXPECT_EQ(directives(parse({})), 0u);
    EXPECT_EQ(directives(parse({{"c", "Include /nothing/*\nUser a\n"}})), 1u);
    EXPECT_EQ(refusal({}, {"c", true, false, true}), "c: there is no such file");
    EXPECT_EQ(refusal({{"c", "unreadable"}}), "c: permission denied");
    EXPECT_EQ(refusal({{"c", "User a\nInclude /a\n"}, {"/a", "unreadable"}}),
              "c:2: Include: /a: permission denied");
}

TEST(SshConfigParser, FaultsNameTheirPlaceAndKeyword) {
    EXPECT_EQ(refusal({{"c", "\nUser\n"}}), "c:2: User: an argument is missing");
    EXPECT_EQ(refusal({{"c", "Host x\nportt 22\n"}}), "c:2: Bad configuration option: portt");
    EXPECT_EQ(refusal({{"c", "\x1b[31m x\n"}}), "c:1: Bad configuration option: \\x1B[31m");
    EXPECT_EQ(refusal({{"c", "Port x"}}), "c:1: Port: makes no sense: \"x\"");
    EXPECT_EQ(refusal({{"c", "ForwardAgent \"yes"}}), "c:1: ForwardAgent: a quote has no end");
    EXPECT_EQ(refusal({{"c", "Match host"}}), "c:1: Match host: a pattern is missing");
    EXPECT_EQ(refusal({{"c", "Match moon full"}}), "c:1: Match: there is no criterion \"moon\"");
}

TEST(SshConfigParser, CommandsAreNotRunToReadAConfiguration) {
    EXPECT_EQ(refusal({{"c", "Host a\n\nMatch host b exec \"touch /tmp/x\"\n"}}),
              "c:3: Match exec: cleanslate runs no commands to read a configuration");
    EXPECT_EQ(refusal({{"c", "Match !EXEC true"}}),
              "c:1: Match exec: cleanslate runs no commands to read a configuration");
    for (const std::string name : {"tagged", "localnetwork", "version", "sessiontype", "command"})
        EXPECT_EQ(refusal({{"c", "Match " + name + " x\n"}}),
                  "c:1: Match " + name + ": is not understood here");
}

TEST(SshConfigParser, UnknownKeywordsMayBeIgnoredByName) {
    EXPECT_EQ(refusal({{"c", "IgnoreUnknown UseKey*,foo\nUseKeychain yes\nFOO x\n"}}), "");
    EXPECT_EQ(refusal({{"c", "UseKeychain yes\nIgnoreUnknown UseKey*\n"}}),
              "c:1: Bad configuration option: UseKeychain")
        << "it counts from its line on";
}

TEST(SshConfigParser, ThePoliciesOfADistributionAreNotNoted) {
    const std::string text =
        "Ciphers a\nRequiredRSASize 2048\nCanonicalizeHostname no\nPKCS11Provider none\n";
    EXPECT_EQ(directives(parse({{"c", text}}, {"c", false})), 0u);
    EXPECT_EQ(directives(parse({{"c", text}})), 2u) << "what a user writes is";
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
