#include "controller/inventory_programs.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

// An ansible-inventory in PATH that answers with its own words.
class AnsibleInventory : public ::testing::Test {
  protected:
    AnsibleInventory() {
        const char* const path = std::getenv("PATH");
        before_ = path == nullptr ? "" : path;
        const std::string program = folder_.file("ansible-inventory");
        put(program, "#!/bin/sh\nprintf '{\"words\": \"%s\"}' \"$*\"\n");
        std::filesystem::permissions(program, std::filesystem::perms(0755));
        ::setenv("PATH", (folder_.file("") + ":" + before_).c_str(), 1);
    }
    ~AnsibleInventory() override { ::setenv("PATH", before_.c_str(), 1); }

    std::string asked(const std::string& path) {
        const auto answer = InventoryPrograms().ansible_inventory(path);
        return answer ? *answer : answer.error().message;
    }

    TemporaryFolder folder_;
    std::string before_;
};

TEST_F(AnsibleInventory, IsAskedForItsList) {
    EXPECT_EQ(asked("some/path"), R"({"words": "-i some/path --list"})");
}

TEST_F(AnsibleInventory, TakesNoPathForAnOption) {
    EXPECT_EQ(asked("-h"), R"({"words": "-i ./-h --list"})");
    EXPECT_EQ(asked("--export"), R"({"words": "-i ./--export --list"})");
}

}  // namespace
}  // namespace cleanslate::controller::testing
