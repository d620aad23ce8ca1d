// The built-in playbooks, and loading by name or path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
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
    if (const auto* verify = std::get_if<VerifyStep>(&step.action)) {
        std::string out = "verify " + std::to_string(verify->within.count()) + "ms";
        for (const auto& gpu : verify->gpus) out += " gpu=" + gpu;
        return out;
    }
    const auto& signal = std::get<SignalStep>(step.action);
    std::string out = signal.signal_name + " " + std::to_string(signal.wait.count()) + "ms";
    if (signal.match.holding_gpu) out += " gpu";
    if (signal.match.orphaned) out += " orphaned";
    if (signal.match.tree) out += " tree";
    if (signal.match.uid_at_least) out += " uid>=" + std::to_string(*signal.match.uid_at_least);
    if (signal.match.older_than)
        out += " older=" + std::to_string(signal.match.older_than->count() / 1000) + "s";
    for (const auto& text : signal.match.gpus) out += " gpu=" + text;
    for (const auto& text : signal.match.user) out += " user=" + text;
    for (const auto& text : signal.match.slurm_job) out += " slurm_job=" + text;
    for (const auto& text : signal.match.pod) out += " pod=" + text;
    for (const auto& text : signal.match.container) out += " container=" + text;
    for (const auto& text : signal.match.unit) out += " unit=" + text;
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

// Built-in playbooks with a param that must be set.
const std::map<std::string, Settings> required{{"user", {{"user", "alice"}}}, {"gpus", {{"gpus", "0,3"}}}};

Settings settings_of(const std::string& name) {
    const auto found = required.find(name);
    return found == required.end() ? Settings{} : found->second;
}

TEST(BuiltIn, AreSix) {
    std::vector<std::string> names;
    for (const auto& built_in : built_in_playbooks()) names.emplace_back(built_in.name);
    EXPECT_THAT(names, ElementsAre("clear", "sweep", "by-holder", "by-name", "user", "gpus"));
}

TEST(BuiltIn, AreTheFilesUnchangedAndNamedAsTheySay) {
    const std::filesystem::path folder = std::filesystem::path(CLEANSLATE_SOURCE_DIR) / "playbooks/builtin";
    for (const auto& built_in : built_in_playbooks()) {
        const std::string name(built_in.name);
        std::ifstream file(folder / (name + ".yaml"), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(playbook_text(name).value_or(""), text);
        const auto playbook = loaded(name, settings_of(name));
        EXPECT_EQ(playbook.name, name);
        EXPECT_FALSE(playbook.description.empty());
        EXPECT_EQ(playbook.description, built_in.description);
        EXPECT_NE(text.find("When to use it"), std::string::npos) << name;
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

TEST(BuiltIn, SweepEndsOldOrphansOfOrdinaryUsers) {
    const std::string who =
        " gpu orphaned tree uid>=1000 older=43200s slurm_job=none pod=none container=none unit=none";
    const auto playbook = loaded("sweep");
    EXPECT_THAT(outlines(playbook),
                ElementsAre("TERM 10000ms" + who, "KILL 30000ms" + who, "verify 10000ms"));
    EXPECT_EQ(playbook.max_kills, 64);
    EXPECT_TRUE(playbook.scheduled_hosts_only);
    EXPECT_TRUE(playbook.needs_all_processes());
    EXPECT_THAT(outlines(loaded("sweep", {{"older_than", "3d"}}))[0], HasSubstr("older=259200s"));
    EXPECT_FALSE(load_playbook("sweep", {{"older_than", "12"}}));
}

TEST(BuiltIn, OthersHaveNoLimitAndAskForNoScheduler) {
    for (const char* name : {"clear", "by-name", "by-holder", "user", "gpus"}) {
        const auto playbook = loaded(name, settings_of(name));
        EXPECT_EQ(playbook.max_kills, std::nullopt) << name;
        EXPECT_FALSE(playbook.scheduled_hosts_only) << name;
        EXPECT_TRUE(playbook.shm_names().empty()) << name;
    }
}

TEST(BuiltIn, UserEndsTheHoldersOfSome) {
    EXPECT_THAT(outlines(loaded("user", {{"user", "alice"}})),
                ElementsAre("TERM 10000ms gpu tree user=alice", "KILL 30000ms gpu tree user=alice",
                            "verify 10000ms"));
    EXPECT_THAT(outlines(loaded("user", {{"user", "alice,1001"}}))[0], HasSubstr("user=alice user=1001"));
}

TEST(BuiltIn, GpusClearsAndJudgesSome) {
    const auto playbook = loaded("gpus", {{"gpus", "0,3"}});
    EXPECT_THAT(outlines(playbook),
                ElementsAre("TERM 10000ms tree gpu=0 gpu=3", "KILL 30000ms tree gpu=0 gpu=3",
                            "verify 10000ms gpu=0 gpu=3"));
    EXPECT_THAT(playbook.judged_gpus(), ElementsAre("0", "3"));
    EXPECT_FALSE(playbook.needs_all_processes());
}

TEST(BuiltIn, AParamThatMustBeSetIsAskedFor) {
    for (const auto& [name, settings] : required) {
        const auto playbook = load_playbook(name);
        ASSERT_FALSE(playbook);
        EXPECT_THAT(said(playbook.error()), AllOf(StartsWith("builtin/" + name + ".yaml:"),
                                                  HasSubstr("param `" + name + "` has no value"),
                                                  HasSubstr("give --set " + name + "=VALUE")));
        const auto empty = load_playbook(name, {{name, ""}});
        ASSERT_FALSE(empty) << "nobody is not everybody";
        EXPECT_THAT(said(empty.error()), HasSubstr("an empty entry"));
    }
}

TEST(BuiltIn, AnUnknownNameIsRefusedWithTheNearest) {
    EXPECT_EQ(not_loaded("claer"),
              "there is no built-in playbook `claer` -> did you mean `clear`? built in: clear, sweep, "
              "by-holder, by-name, user or gpus; a file of your own is given as ./claer");
    EXPECT_THAT(not_loaded(""), HasSubstr("built in: clear, sweep, "));
    EXPECT_THAT(not_loaded("a\x1b[2Jb"), HasSubstr("`a\\x1B[2Jb`"));
}

// The blocks of YAML in docs/playbook-format.md.
std::vector<std::string> examples() {
    std::ifstream file(std::filesystem::path(CLEANSLATE_SOURCE_DIR) / "docs/playbook-format.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string fence = "```yaml\n";
    std::vector<std::string> out;
    for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
        at += fence.size();
        out.push_back(text.substr(at, text.find("```", at) - at));
    }
    return out;
}

TEST(Documentation, ItsWholePlaybookIsOne) {
    const auto all = examples();
    ASSERT_FALSE(all.empty());
    const auto playbook = accepted(all[0], {{"server", "vllm"}, {"grace", "3s"}});
    EXPECT_EQ(playbook.name, "nightly");
    ASSERT_EQ(playbook.steps.size(), 4U);
    EXPECT_EQ(outline(playbook.steps[1]), "TERM 3000ms gpu tree cmdline=vllm");
    EXPECT_EQ(outline(playbook.steps[2]), "KILL 30000ms gpu exe=/python[0-9.]*$");
}

TEST(Documentation, ItsStepsAreSteps) {
    const auto all = examples();
    EXPECT_GE(all.size(), 8U);
    for (const auto& text : all) {
        const bool bare = text.starts_with("  - ");
        EXPECT_FALSE(accepted(bare ? "steps:\n" + text : text).steps.empty()) << text;
    }
}

TEST(Documentation, ShowsEachBuiltInPlaybook) {
    std::ifstream file(std::filesystem::path(CLEANSLATE_SOURCE_DIR) / "docs/playbook-format.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const auto& built_in : built_in_playbooks())
        EXPECT_THAT(text, HasSubstr("\n| `" + std::string(built_in.name) + "` | "));
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
