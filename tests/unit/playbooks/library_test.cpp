// The built-in playbooks, and loading by name or path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "transcript.hpp"

namespace cleanslate::playbooks {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Playbook loaded(const std::string& name, const Settings& settings = {}) {
    auto playbook = load_playbook(name, settings);
    if (playbook) return *playbook;
    ADD_FAILURE() << said(playbook.error());
    return {};
}

std::string not_loaded(const std::string& name) {
    const auto playbook = load_playbook(name);
    const auto text = playbook_text(name);
    if (playbook || text) {
        ADD_FAILURE() << "found: " << name;
        return {};
    }
    EXPECT_EQ(playbook.error().kind, "playbook");
    EXPECT_EQ(playbook.error().message, text.error().message);
    return said(playbook.error());
}

// One line a step: "TERM 10000ms gpu tree cmdline=x".
std::string outline(const Step& step) {
    if (const auto* verify = std::get_if<VerifyStep>(&step.action))
        return "verify " + std::to_string(verify->within.count()) + "ms";
    const auto& signal = std::get<SignalStep>(step.action);
    std::string out = signal.signal_name + " " + std::to_string(signal.wait.count()) + "ms";
    if (signal.match.holding_gpu) out += " gpu";
    if (signal.match.tree) out += " tree";
    for (const auto& text : signal.match.cmdline) out += " cmdline=" + text;
    for (const auto& text : signal.match.name) out += " name=" + text;
    for (const auto& text : signal.match.exe) out += " exe=" + text;
    for (const int pid : signal.match.pid) out += " pid=" + std::to_string(pid);
    return out;
}

std::vector<std::string> outlines(const Playbook& playbook) {
    std::vector<std::string> out;
    for (const auto& step : playbook.steps) out.push_back(outline(step));
    return out;
}

// A folder of its own, gone at the end.
class Library : public testing::Test {
  protected:
    Library() {
        std::string name = (std::filesystem::temp_directory_path() / "cleanslate-playbooks-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~Library() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return (folder_ / name).string();
    }
    std::filesystem::path folder_;
};

TEST(BuiltIn, AreThree) {
    std::vector<std::string> names;
    for (const auto& built_in : built_in_playbooks()) names.emplace_back(built_in.name);
    EXPECT_THAT(names, ElementsAre("clear", "by-name", "by-holder"));
}

TEST(BuiltIn, AreTheFilesUnchangedAndNamedAsTheySay) {
    const std::filesystem::path folder = std::filesystem::path(CLEANSLATE_SOURCE_DIR) / "playbooks/builtin";
    for (const auto& built_in : built_in_playbooks()) {
        const std::string name(built_in.name);
        std::ifstream file(folder / (name + ".yaml"), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(playbook_text(name).value_or(""), text);
        EXPECT_EQ(loaded(name).name, name);
        EXPECT_FALSE(loaded(name).description.empty());
    }
    const auto files =
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
    EXPECT_EQ(static_cast<std::size_t>(files), built_in_playbooks().size());
}

TEST(BuiltIn, ClearEndsHoldersWithTheirLaunchers) {
    const auto playbook = loaded("clear");
    EXPECT_THAT(outlines(playbook),
                ElementsAre("TERM 10000ms gpu tree", "KILL 30000ms gpu tree", "verify 10000ms"));
    EXPECT_FALSE(playbook.needs_all_processes());
}

TEST(BuiltIn, ByNameEndsWhatMatchesAndPythonsAtAGpu) {
    EXPECT_THAT(outlines(loaded("by-name")),
                ElementsAre("TERM 10000ms cmdline=sglang", "KILL 30000ms cmdline=sglang",
                            "KILL 30000ms gpu exe=/python[0-9.]*$", "verify 10000ms"));
    EXPECT_THAT(outlines(loaded("by-name", {{"pattern", "vllm serve"}})),
                ElementsAre("TERM 10000ms cmdline=vllm serve", "KILL 30000ms cmdline=vllm serve",
                            "KILL 30000ms gpu exe=/python[0-9.]*$", "verify 10000ms"));
}

TEST(BuiltIn, ByNameRefusesAPatternThatWouldMatchEverything) {
    const auto playbook = load_playbook("by-name", {{"pattern", ".*"}});
    ASSERT_FALSE(playbook);
    EXPECT_THAT(playbook.error().message,
                AllOf(StartsWith("builtin/by-name.yaml:"), HasSubstr("every process")));
}

TEST(BuiltIn, ByHolderEndsHoldersOnly) {
    EXPECT_THAT(outlines(loaded("by-holder")),
                ElementsAre("TERM 10000ms gpu", "KILL 30000ms gpu", "verify 10000ms"));
}

TEST(BuiltIn, AnUnknownNameIsRefusedWithTheNearest) {
    EXPECT_EQ(not_loaded("claer"),
              "there is no built-in playbook `claer` -> did you mean `clear`? built in: clear, "
              "by-name or by-holder; a file of your own is given as ./claer");
    EXPECT_THAT(not_loaded(""), HasSubstr("built in: clear, by-name or by-holder"));
    EXPECT_THAT(not_loaded("a\x1b[2Jb"), HasSubstr("`a\\x1B[2Jb`"));
}

TEST(Documentation, ItsWholePlaybookIsOne) {
    std::ifstream file(std::filesystem::path(CLEANSLATE_SOURCE_DIR) / "docs/playbook-format.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string fence = "```yaml\n";
    const auto begin = text.find(fence);
    ASSERT_NE(begin, std::string::npos);
    const auto from = begin + fence.size();
    const auto playbook = accepted(std::string_view(text).substr(from, text.find("```", from) - from),
                                   {{"server", "vllm"}, {"grace", "3s"}});
    EXPECT_EQ(playbook.name, "nightly");
    ASSERT_EQ(playbook.steps.size(), 4U);
    EXPECT_EQ(outline(playbook.steps[1]), "TERM 3000ms gpu tree cmdline=vllm");
    EXPECT_EQ(outline(playbook.steps[2]), "KILL 30000ms gpu exe=/python[0-9.]*$");
}

TEST_F(Library, AFileIsReadByItsPath) {
    const std::string text = "steps:\n  - verify:\n";
    const auto path = write("mine.yaml", text);
    EXPECT_EQ(loaded(path).name, "mine");
    EXPECT_EQ(playbook_text(path).value_or(""), text);
    EXPECT_EQ(loaded(write("other", text)).name, "other");
}

TEST_F(Library, ACopyOfABuiltInOneIsTheSame) {
    const auto path = write("copy.yaml", std::string(built_in_playbooks()[0].text));
    EXPECT_EQ(outlines(loaded(path)), outlines(loaded("clear")));
}

TEST_F(Library, AnErrorNamesTheFileAsItWasGiven) {
    const auto path = write("bad.yaml", "steps:\n  - signal: 9\n    match: {holding: gpu}\n");
    const auto playbook = load_playbook(path);
    ASSERT_FALSE(playbook);
    EXPECT_EQ(said(playbook.error()), path + ":2:13: signal 9 is a number -> write KILL");
}

TEST_F(Library, AFileThatCanNotBeReadIsRefused) {
    EXPECT_THAT(not_loaded((folder_ / "none.yaml").string()),
                AllOf(HasSubstr("none.yaml"), HasSubstr("No such file")));
    EXPECT_THAT(not_loaded(folder_.string()), HasSubstr("folder"));
    EXPECT_THAT(not_loaded("none.yml"), HasSubstr("No such file"));
    EXPECT_THAT(not_loaded("/dev/zero"), HasSubstr("larger than"));
}

TEST_F(Library, AnEndingIsEnoughToBeAPath) {
    EXPECT_THAT(not_loaded("clear.yaml"), AllOf(StartsWith("clear.yaml: "), EndsWith("built-in one")));
}

}  // namespace
}  // namespace cleanslate::playbooks
