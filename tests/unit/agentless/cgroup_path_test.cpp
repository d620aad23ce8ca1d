#include "agentless/cgroup_path.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless {
namespace {

TEST(CgroupPath, IsSplitWithoutEmptyParts) {
    const std::string text = "//system.slice///ssh.service/";
    const auto path = split_cgroup(text);
    EXPECT_EQ(path.parts, (std::vector<std::string_view>{"system.slice", "ssh.service"}));
    EXPECT_EQ(path.down_to(0), "//system.slice");
    EXPECT_EQ(path.down_to(1), "//system.slice///ssh.service");
}

TEST(CgroupPath, TheRootHasNoParts) {
    EXPECT_TRUE(split_cgroup("/").parts.empty());
    EXPECT_TRUE(split_cgroup("").parts.empty());
}

TEST(CgroupPath, UnitsAreSpelledAsSystemdSpellsThem) {
    EXPECT_TRUE(is_unit("app-foo\\x2dbar@1.service", ".service"));
    EXPECT_FALSE(is_unit(".service", ".service"));
    EXPECT_FALSE(is_unit("-.slice", ".slice"));
    EXPECT_FALSE(is_unit("a b.service", ".service"));
    EXPECT_FALSE(is_unit("$(reboot).service", ".service"));
    EXPECT_FALSE(is_unit("a'b.service", ".service"));
    EXPECT_FALSE(is_unit("a\nb.service", ".service"));
    EXPECT_FALSE(is_unit(std::string(300, 'a') + ".service", ".service"));
}

TEST(CgroupPath, TheUnderscoreThatHidesAUnitFromTheKernelIsTakenOff) {
    EXPECT_EQ(unit_name("_memory.service"), "memory.service");
    EXPECT_EQ(unit_name("memory.service"), "memory.service");
}

TEST(CgroupPath, IsAtOrBelowAnotherByWholeParts) {
    EXPECT_TRUE(is_at_or_below("/system.slice/a.service", "/system.slice/a.service"));
    EXPECT_TRUE(is_at_or_below("/system.slice/a.service/sub", "/system.slice/a.service"));
    EXPECT_FALSE(is_at_or_below("/system.slice/a.service2", "/system.slice/a.service"));
    EXPECT_FALSE(is_at_or_below("/system.slice", "/system.slice/a.service"));
    EXPECT_FALSE(is_at_or_below("/system.slice/a.service", "")) << "an empty path bounds nothing";
}

}  // namespace
}  // namespace cleanslate::agentless
