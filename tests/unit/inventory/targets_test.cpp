#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

TEST(Targets, AreTakenAwayAndKept) {
    EXPECT_EQ(targets("n[1-5]!n[2-3]"), "n1 n4 n5");
    EXPECT_EQ(targets("root@n[1-3]:22,m1!n2"), "root@n1:22 root@n3:22 m1");
    EXPECT_EQ(targets("n[1-5],!n[2-9]"), "n1");
    EXPECT_EQ(targets("!n1,n[1-2]"), "n2");
    EXPECT_EQ(targets("n[1-5]&n[4-9]"), "n4 n5");
    EXPECT_EQ(targets("n[1-3]^n[3-4]"), "n1 n2 n4");
    EXPECT_EQ(targets("n1!root@n1"), "\"root@n1\": a user or a port where hosts are taken away");
    EXPECT_EQ(targets("!n1"), "\"!n1\": only takes hosts away");
    EXPECT_EQ(targets("n1!n1"), "\"n1!n1\": leaves no host");
    EXPECT_EQ(targets("n[01-10]!n3"), "\"n3\": is to be taken away and was not named");
    EXPECT_EQ(targets("n[1-3]!n2,n2"),
              "\"n[1-3]!n2,n2\": from left to right n2 is in it, with all signs at the end it is not");
    EXPECT_EQ(targets("^hosts"), "\"hosts\": nothing stands before its ^");
}

class TargetsFile : public testing::Test {
  protected:
    ~TargetsFile() override { std::filesystem::remove(path_); }
    std::string with(std::string_view text, std::string_view before = "@") {
        std::ofstream(path_) << text;
        return std::string(before) + path_;
    }
    std::string path_ = std::filesystem::path(testing::TempDir()) / ("targets_" + std::to_string(getpid()));
};

TEST_F(TargetsFile, NamesHosts) {
    EXPECT_EQ(targets(with("# two racks\r\nroot@r[1-2]n1:22\r\n\r\nn5 n6,n7\n")),
              "root@r1n1:22 root@r2n1:22 n5 n6 n7");
    EXPECT_EQ(targets("m1," + with("n1 slots=8\nn2 slots=8\n")), "m1 n1 n2");
    EXPECT_EQ(targets("n[1-4]," + with("n2\nn3\nn9\n", "!@")), "n1 n4") << "n9 is no slip, n2 is there";
    EXPECT_EQ(targets("n[1-4]!" + with("n2\n")), "n1 n3 n4");
}

TEST_F(TargetsFile, IsRefusedWhereItNamesNobodyOrSomethingElse) {
    EXPECT_EQ(targets(with("# none\n")), path_ + ": names no host");
    EXPECT_EQ(targets("n1," + with("", "!@")), path_ + ": names no host");
    EXPECT_EQ(targets(with("n1\nn*\n")), path_ + ":2: \"n*\": \"n*\" is no host name");
    EXPECT_EQ(targets(with("@n1\n")), path_ + ":1: \"@n1\": a file can not name another");
    EXPECT_EQ(targets("n1," + with("!n2\n", "!@")),
              path_ + ":1: \"n2\": of signs there is only ! before a file, and none in it then");
    EXPECT_EQ(targets("n[1-4]," + with("n8\nn9\n", "!@")),
              "\"@" + path_ + "\": is to be taken away and was not named");
    EXPECT_EQ(targets("@" + path_ + ".none"), path_ + ".none: can not be read: No such file or directory");
    EXPECT_EQ(targets("@"), "\"@\": no file behind the @");
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
