#include "controller/config/keys.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/text.hpp"
#include "tests/unit/controller/temporary_folder.hpp"

namespace cleanslate::controller::config::testing {
namespace {

using controller::testing::contents_of;

// The rows "| `key` | built-in default | meaning |" of docs/config.md.
std::map<std::string, std::vector<std::string>> documented() {
    std::map<std::string, std::vector<std::string>> rows;
    const std::string text = contents_of(CLEANSLATE_SOURCE_DIR "/docs/config.md");
    for (const auto line : split(text, '\n')) {
        if (!line.starts_with("| `")) continue;
        std::vector<std::string> cells;
        for (const auto cell : split(line, '|')) cells.emplace_back(trim(cell));
        if (cells.size() == 5) rows[cells[1]] = {cells[2], cells[3]};
    }
    return rows;
}

TEST(ConfigPage, HasEveryKeyWithItsDefaultAndMeaning) {
    auto rows = documented();
    for (const Key& key : keys()) {
        const std::string name = "`" + std::string(key.name) + "`";
        ASSERT_TRUE(rows.contains(name)) << "docs/config.md lacks " << name;
        EXPECT_EQ(rows[name][0], key.built_in) << name;
        EXPECT_EQ(rows[name][1], key.meaning) << name;
        rows.erase(name);
    }
    for (const auto& [name, row] : rows)
        ADD_FAILURE() << "docs/config.md has " << name << ", which is no key";
}

TEST(Keys, AreThereOnceAndNoneIsRefused) {
    std::set<std::string_view> seen;
    for (const Key& key : keys()) {
        EXPECT_TRUE(seen.insert(key.name).second) << key.name;
        EXPECT_EQ(find_key(key.name), &key);
        EXPECT_EQ(never_a_default(key.name), "") << key.name;
        EXPECT_LE(key.meaning.size(), 80u) << key.name;
    }
    EXPECT_EQ(find_key("yes"), nullptr);
    EXPECT_EQ(find_key(""), nullptr);
}

TEST(Keys, NeverStandForAYesOrForTheHostsThatAreMeant) {
    for (const char* name : {"yes", "dry-run", "allow-reset", "allow-reboot", "allow-shm", "include-jobs",
                             "local", "raw-commands", "limit", "l", "hosts", "H", "last-failed", "shard",
                             "no-history", "set", "on-change"})
        EXPECT_NE(never_a_default(name), "") << name;
}

TEST(Keys, AreReadByEveryCommandButThoseThatOnlyExplain) {
    for (const Command command : {Command::explain, Command::playbooks, Command::config, Command::drain_list,
                                  Command::completion, Command::complete})
        EXPECT_FALSE(reads_config(command));
    for (const Command command :
         {Command::check, Command::clear, Command::run, Command::hosts, Command::trust, Command::audit,
          Command::parse, Command::baseline, Command::report, Command::history})
        EXPECT_TRUE(reads_config(command));
}

TEST(Keys, StandForTheOptionsThatMeanTheSame) {
    EXPECT_TRUE(applies(*find_key("format"), Command::clear));
    EXPECT_FALSE(applies(*find_key("format"), Command::report)) << "it would overwrite the sweep's files";
    EXPECT_FALSE(applies(*find_key("format"), Command::history));
    EXPECT_FALSE(applies(*find_key("format"), Command::run)) << "it has no csv";
    EXPECT_FALSE(applies(*find_key("max-used"), Command::baseline)) << "a leak's least size there";
    EXPECT_TRUE(applies(*find_key("max-used"), Command::parse));
    EXPECT_FALSE(applies(*find_key("inventory"), Command::history)) << "a filter there";
    EXPECT_TRUE(applies(*find_key("history"), Command::history));
}

}  // namespace
}  // namespace cleanslate::controller::config::testing
