#include <gtest/gtest.h>

#include "inventory/inventory.hpp"

namespace cleanslate::inventory {
namespace {

// "user@name:port ..." of what was named, or why not.
std::string targets(std::string_view text) {
    const auto inventory = Inventory::from_targets(text);
    if (!inventory) return inventory.error().message;
    std::string out;
    for (const auto& host : inventory->hosts()) {
        EXPECT_EQ(host.name, host.address);
        out += out.empty() ? "" : " ";
        if (host.user) out += *host.user + "@";
        out += host.name;
        if (host.port) out += ":" + std::to_string(*host.port);
    }
    return out;
}

TEST(Targets, AreHostsWithUsersAndPorts) {
    EXPECT_EQ(targets("gpu01"), "gpu01");
    EXPECT_EQ(targets("root@gpu[01-02]:2222, gpu07"), "root@gpu01:2222 root@gpu02:2222 gpu07");
    EXPECT_EQ(targets("gpu[01:02]"), "gpu01 gpu02");
    EXPECT_EQ(targets("gpu[1,3]:22"), "gpu1:22 gpu3:22");
    EXPECT_EQ(targets("user@realm@gpu01"), "user@realm@gpu01");
    EXPECT_EQ(targets("10.0.0.[1-2]"), "10.0.0.1 10.0.0.2");
}

TEST(Targets, TakeIpv6AddressesForWhatTheyAre) {
    EXPECT_EQ(targets("[::1]:22"), "::1:22");
    EXPECT_EQ(targets("root@[fe80::1%eth0]"), "root@fe80::1%eth0");
    EXPECT_EQ(targets("::1,2001:db8::7"), "::1 2001:db8::7");
    EXPECT_EQ(targets("[1:2]"), "1 2") << "a range, no address";
}

TEST(Targets, RefuseWhatIsNoHost) {
    for (const auto* text : {"",
                             ",",
                             "a,",
                             "@gpu01",
                             "root@",
                             "root@:22",
                             "-oProxyCommand=x",
                             "root@-x",
                             "-l@gpu01",
                             "a b",
                             "gpu01:",
                             "gpu01:0",
                             "gpu01:65536",
                             "gpu01:ssh",
                             "gpu01:22:23",
                             "gpu[01-02",
                             "gpu[02-01]",
                             "gpu*",
                             "!gpu01",
                             "@file",
                             "[::1",
                             "[::g]:22",
                             "a;b",
                             "\x1b[2J",
                             "ssh://gpu01",
                             "gpu01:-1"}) {
        EXPECT_FALSE(Inventory::from_targets(text)) << text;
    }
    EXPECT_EQ(targets("gpu01:ssh"), "\"gpu01:ssh\": no port behind the colon");
    EXPECT_EQ(targets("root@"), "\"\": an empty name");
}

TEST(Targets, NameEachHostOnce) {
    EXPECT_EQ(targets("gpu01,gpu[01-02]"), "gpu01 gpu02");
    EXPECT_EQ(targets("gpu01:22,gpu01:23"), "\"gpu01:23\": gpu01 is named twice, with another user or port");
}

TEST(Targets, AreBounded) {
    EXPECT_FALSE(Inventory::from_targets("n[1-1000001]"));
    EXPECT_EQ(targets("m1,n[1-1000000]"), "\"n[1-1000000]\": stands for more than 999999 names");
}

TEST(Targets, CanBeLimited) {
    const auto inventory = Inventory::from_targets("gpu[01-04]").value();
    EXPECT_EQ(inventory.select("all,!gpu02").value().size(), 3U);
    EXPECT_EQ(inventory.groups().at("ungrouped").size(), 4U);
}

}  // namespace
}  // namespace cleanslate::inventory
