#include "inventory/host_keys.hpp"

#include <gtest/gtest.h>

namespace cleanslate::inventory {
namespace {

std::string keys(std::string_view text, std::size_t most = 1000) {
    const auto key = read_host_key(text, most);
    if (!key) return "refused: " + key.error().message;
    std::string names;
    for (const std::string& name : key->names) names += (names.empty() ? "" : " ") + name;
    return key->port ? names + " port " + std::to_string(*key->port) : names;
}

TEST(HostKeys, AreNamesWithAPortBehindThem) {
    EXPECT_EQ(keys("gpu01"), "gpu01");
    EXPECT_EQ(keys("gpu01:2222"), "gpu01 port 2222");
    EXPECT_EQ(keys("gpu01:0"), "gpu01");
    EXPECT_EQ(keys("n[1:2]:22"), "n1 n2 port 22");
    EXPECT_EQ(keys("::1"), "::1");
    EXPECT_EQ(keys("2001:db8::7"), "2001:db8::7");
    EXPECT_EQ(keys("[2001:db8::7]"), "2001:db8::7");
    EXPECT_EQ(keys("[2001:db8::7]:22"), "2001:db8::7 port 22");
    EXPECT_EQ(keys("gpu01:ssh").substr(0, 8), "refused:");
}

TEST(HostKeys, AreRangesAsAnsibleHasThem) {
    EXPECT_EQ(keys("n[08:11]"), "n08 n09 n10 n11");
    EXPECT_EQ(keys("n[8:11]"), "n8 n9 n10 n11");
    EXPECT_EQ(keys("n[01:10:3]"), "n01 n04 n07 n10");
    EXPECT_EQ(keys("n[:2]"), "n0 n1 n2");
    EXPECT_EQ(keys("db[a:f:2]"), "dba dbc dbe");
    EXPECT_EQ(keys("q[y:B]"), "qy qz qA qB") << "capitals come after small letters";
    EXPECT_EQ(keys("r[1:2]n[a:b]x"), "r1nax r1nbx r2nax r2nbx");
    EXPECT_EQ(keys("2001:db8::[7:8]"), "2001:db8::7 2001:db8::8");
    EXPECT_EQ(keys("n[1-2,5]"), "n1 n2 n5") << "a node set";
}

TEST(HostKeys, AreRefusedWhereARangeIsNone) {
    EXPECT_EQ(keys("n[3:1]"), "refused: \"n[3:1]\": the range 3:1 runs backwards");
    EXPECT_EQ(keys("n[c:a]"), "refused: \"n[c:a]\": the range c:a runs backwards");
    EXPECT_EQ(keys("n[1:010]"), "refused: \"n[1:010]\": the range 1:010 is ragged");
    EXPECT_EQ(keys("n[1:9:0]"), "refused: \"n[1:9:0]\": the step of a range can not be 0");
    EXPECT_EQ(keys("n[1:]"), "refused: \"n[1:]\": [1:] is no range");
    EXPECT_EQ(keys("n[1:2:3:4]"), "refused: \"n[1:2:3:4]\": [1:2:3:4] is no range");
    EXPECT_EQ(keys("n[ab:cd]"), "refused: \"n[ab:cd]\": [ab:cd] is no range");
    EXPECT_EQ(keys("n[1:2000]"), "refused: \"n[1:2000]\": stands for more than 1000 names");
    EXPECT_EQ(keys("n[1:40]m[1:40]"), "refused: \"n[1:40]m[1:40]\": stands for more than 1000 names");
    EXPECT_EQ(keys("n[1:2").substr(0, 8), "refused:");
    EXPECT_EQ(keys("n1,n2").substr(0, 8), "refused:");
    EXPECT_EQ(keys("n[1:2],m[1:2]"), "refused: \"n[1:2],m[1:2]\": several names in one key");
    EXPECT_EQ(keys("-[1:2]").substr(0, 8), "refused:");
}

}  // namespace
}  // namespace cleanslate::inventory
