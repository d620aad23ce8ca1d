#include "controller/command_outline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cleanslate::controller::testing {
namespace {

const CommandNode& child(const CommandNode& node, const std::string& name) {
    const auto found = std::ranges::find(node.children, name, &CommandNode::name);
    EXPECT_NE(found, node.children.end()) << name;
    return *found;
}

TEST(CommandOutline, HasCommandsActionsAndTheirUsage) {
    const CommandNode program = command_outline();
    EXPECT_EQ(program.name, "cleanslate");
    EXPECT_EQ(child(program, "clear").usage, "cleanslate clear HOSTS [options]");
    EXPECT_EQ(child(child(program, "history"), "diff").usage, "cleanslate history diff [ID [ID]] [options]");
}

TEST(CommandOutline, KnowsFlagsValuesAndPositionals) {
    const CommandNode program = command_outline();
    const auto option = [&](const std::string& command, const std::string& name) {
        for (const OptionNode& each : child(program, command).options)
            if (std::ranges::find(each.names, name) != each.names.end()) return each;
        ADD_FAILURE() << command << " " << name;
        return OptionNode{};
    };
    EXPECT_EQ(option("clear", "--yes").value, "");
    EXPECT_EQ(option("clear", "-i").value, "FILE");
    EXPECT_EQ(option("clear", "-i").names, (std::vector<std::string>{"-i", "--inventory"}));
    EXPECT_EQ(option("check", "--color").value, "auto|always|never");
    EXPECT_TRUE(option("explain", "CODE").positional);
    EXPECT_EQ(option("explain", "CODE").value, "CODE");
    EXPECT_EQ(option("report", "ACTION").value, "show|merge");
}

}  // namespace
}  // namespace cleanslate::controller::testing
