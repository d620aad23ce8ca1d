#include "controller/history/history.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/controller/command_line.hpp"
#include "tests/unit/controller/temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

TEST(DefaultHistory, StandsBesideTheAuditLog) {
    EXPECT_EQ(default_history_file({{"XDG_STATE_HOME", "/s"}, {"HOME", "/h"}}), "/s/cleanslate/history.db");
    EXPECT_EQ(default_history_file({{"HOME", "/h"}}), "/h/.local/state/cleanslate/history.db");
    EXPECT_EQ(default_history_file({{"XDG_STATE_HOME", "relative"}}), "");
    EXPECT_EQ(default_history_file({}), "");
}

TEST(Scope, IsTheSameHoweverTheInventoryIsNamed) {
    TemporaryFolder folder;
    put(folder.file("fleet.yaml"), "");
    std::filesystem::create_symlink(folder.file("fleet.yaml"), folder.file("link.yaml"));
    const std::string real = std::filesystem::canonical(folder.file("fleet.yaml")).string();
    for (const char* name : {"fleet.yaml", "link.yaml", "./fleet.yaml"})
        EXPECT_EQ(scope_of(read({"check", "-i", folder.file(name)})), (SweepScope{real, "all"})) << name;
    EXPECT_EQ(scope_of(read({"check", "-i", folder.file("gone.yaml")})).inventory,
              std::filesystem::canonical(folder.file("")).string() + "/gone.yaml");
}

TEST(Scope, HasTheLimit) {
    EXPECT_EQ(scope_of(read({"check", "-i", "/f"})).limit, "all");
    EXPECT_EQ(scope_of(read({"check", "-i", "/f", "-l", "all"})), scope_of(read({"check", "-i", "/f"})));
    EXPECT_EQ(scope_of(read({"check", "-i", "/f", "-l", "rack1"})).limit, "rack1");
    EXPECT_EQ(scope_of(read({"check", "-i", "/f", "--shard", "2/4"})).limit, "all (shard 2/4)");
    EXPECT_EQ(scope_of(read({"check", "-H", "a", "--shard", "1/4"})).limit, "a (shard 1/4)");
}

TEST(Scope, OfHostsOutrightAndOfThisMachine) {
    EXPECT_EQ(scope_of(read({"check", "-H", "root@gpu[01-04]"})), (SweepScope{"-H", "root@gpu[01-04]"}));
    EXPECT_EQ(scope_of(read({"check", "-i", "-", "-i", "ansible:/x/../y"})).inventory, "-,ansible:/y");
    EXPECT_EQ(scope_of(read({"check", "--local"})).inventory, "--local");
    EXPECT_NE(scope_of(read({"check", "--local"})).limit, "");
    EXPECT_EQ(scope_of(read({"check", "-i", "-"})).inventory, "-");
}

}  // namespace
}  // namespace cleanslate::controller::testing
