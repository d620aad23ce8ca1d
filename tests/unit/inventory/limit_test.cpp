#include "inventory/limit.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "inventory/inventory.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::string_view fleet =
    "all:\n"
    "  children:\n"
    "    rack1: {hosts: {'gpu[01-04]': }}\n"
    "    rack2: {hosts: {'gpu[05-08]': }}\n"
    "    h200: {hosts: {gpu01: , gpu05: }}\n"
    "    gpu: {children: {rack1: , rack2: }}\n"
    "    spare:\n"
    "    login1: {hosts: {login2: }}\n"
    "  hosts: {login1: , '::1': }\n";

Result<std::vector<Host>> selected(std::string_view limit) {
    static const Inventory inventory = Inventory::parse(fleet, "f.yaml").value();
    return inventory.select(limit);
}

// What a limit selects, folded, or why not.
std::string select(std::string_view limit) {
    const auto hosts = selected(limit);
    if (!hosts)
        return hosts.error().remedy.empty() ? hosts.error().message
                                            : hosts.error().message + " | " + hosts.error().remedy;
    std::vector<std::string> names;
    for (const auto& host : *hosts) names.push_back(host.name);
    return fold(names);
}

TEST(Limit, NamesHostsAndGroups) {
    EXPECT_EQ(select("gpu03"), "gpu03");
    EXPECT_EQ(select("rack1"), "gpu[01-04]");
    EXPECT_EQ(select("gpu"), "gpu[01-08]");
    EXPECT_EQ(select("all"), select("*"));
    EXPECT_EQ(select("all"), "::1,gpu[01-08],login[1-2]");
    EXPECT_EQ(select("ungrouped"), "::1,login1");
    EXPECT_EQ(select("::1"), "::1");
    EXPECT_EQ(select("[::1]"), "::1");
    EXPECT_EQ(select("login1"), "login[1-2]") << "a host and a group of one name";
}

TEST(Limit, UnitesWithCommasInTheOrderOfTheInventory) {
    EXPECT_EQ(select("gpu07, rack1 ,gpu01"), "gpu[01-04,07]");
    EXPECT_EQ(selected("gpu07,gpu01")->front().name, "gpu01");
}

TEST(Limit, MatchesGlobsOverHostsAndGroups) {
    EXPECT_EQ(select("gpu0?"), "gpu[01-08]");
    EXPECT_EQ(select("*1"), "::1,gpu[01-04],login[1-2]") << "rack1 and the group login1 too";
    EXPECT_EQ(select("rack*"), "gpu[01-08]");
    EXPECT_EQ(select("h2*0"), "gpu[01,05]");
}

TEST(Limit, UnfoldsRanges) {
    EXPECT_EQ(select("gpu[02-03,07]"), "gpu[02-03,07]");
    EXPECT_EQ(select("gpu[02:03]"), "gpu[02-03]");
    EXPECT_EQ(select("rack[1-2]"), "gpu[01-08]");
    EXPECT_EQ(select("*[1-2]"), "::1,gpu[01-08],login[1-2]");
}

TEST(Limit, ARangeWithANameThatDoesNotExistIsAnError) {
    EXPECT_EQ(select("gpu[07-10]"),
              "\"gpu[07-10]\": no host or group matches gpu[09-10] | did you mean gpu01?");
    EXPECT_EQ(select("all,!gpu[07-10]").substr(0, 12), "\"gpu[07-10]\"");
    EXPECT_EQ(selected("gpu[04-01]").error().kind, "range");
}

TEST(Limit, TakesAwayAndKeepsAfterAllUnions) {
    EXPECT_EQ(select("rack1,!gpu03"), "gpu[01-02,04]");
    EXPECT_EQ(select("!gpu03,rack1"), "gpu[01-02,04]");
    EXPECT_EQ(select("!rack1,gpu,gpu01"), "gpu[05-08]");
    EXPECT_EQ(select("gpu,&h200"), "gpu[01,05]");
    EXPECT_EQ(select("gpu,&h200,&rack2"), "gpu05");
    EXPECT_EQ(select("&h200,gpu,!gpu05"), "gpu01");
    EXPECT_EQ(select("gpu, ! rack1 , & gpu05"), "gpu05");
}

TEST(Limit, TakesASignForTheBeginOfATermAlsoWithoutAComma) {
    EXPECT_EQ(select("rack1&gpu[01-02]"), "gpu[01-02]");
    EXPECT_EQ(select("all!rack1!login*&gpu*"), "gpu[05-08]");
    EXPECT_NE(select("@no&such!file").find("no&such!file"), std::string::npos)
        << "a file's name is taken whole";
}

TEST(Limit, NeverSelectsWhatWasNotNamed) {
    EXPECT_EQ(select(""), "the limit is empty | write `all` for every host");
    EXPECT_EQ(select(" "), "the limit is empty | write `all` for every host");
    EXPECT_EQ(select("!gpu01"), "\"!gpu01\" only takes hosts away | write all,!gpu01");
    EXPECT_EQ(select("&rack1"), "\"&rack1\" only takes hosts away | write all,&rack1");
    EXPECT_EQ(select("gpu01,"), "an empty pattern in \"gpu01,\"");
    EXPECT_EQ(select("gpu01,!"), "an empty pattern in \"gpu01,!\"");
    EXPECT_EQ(select("gpu01,!rack1"), "\"gpu01,!rack1\" leaves no host");
    EXPECT_EQ(select("rack1,&rack2"), "\"rack1,&rack2\" leaves no host");
}

TEST(Limit, APatternThatMatchesNothingIsAnErrorWhereverItStands) {
    EXPECT_EQ(select("gpu09"), "no host or group matches \"gpu09\" | did you mean gpu01?");
    EXPECT_EQ(select("rak1"), "no host or group matches \"rak1\" | did you mean rack1?");
    EXPECT_EQ(select("all,!gup01"), "no host or group matches \"gup01\" | did you mean gpu01?");
    EXPECT_EQ(select("all,&nothing*"),
              "no host or group matches \"nothing*\" | groups: all, gpu, h200, login1, rack1, rack2, spare, "
              "ungrouped");
    EXPECT_EQ(select("spare"), "group spare has no hosts");
    EXPECT_EQ(select("GPU01").substr(0, 24), "no host or group matches");
    EXPECT_EQ(selected("gpu09").error().kind, "limit");
}

TEST(Limit, SaysWhatOfAnsibleDoesNotExist) {
    const std::string remedy = " | name the hosts, for example as a range of names: gpu[01-04]";
    EXPECT_EQ(select("all[0:3]"), "\"all[0:3]\": subscripts of a group do not exist here" + remedy);
    EXPECT_EQ(select("rack1[0]"), "\"rack1[0]\": subscripts of a group do not exist here" + remedy);
    EXPECT_EQ(select("rack1[-1]"), "\"rack1[-1]\": subscripts of a group do not exist here" + remedy);
    EXPECT_EQ(select("gpu[01-02]"), "gpu[01-02]") << "names, though gpu is a group";
    EXPECT_EQ(select("~gpu.*"), "\"~gpu.*\": regular expressions do not exist here | use * and ?");
    EXPECT_EQ(select("rack1:rack2"),
              "no host or group matches \"rack1:rack2\" | separate patterns with commas");
}

class LimitFile : public testing::Test {
  protected:
    ~LimitFile() override { std::filesystem::remove(path_); }
    std::string with(std::string_view text, std::string_view before = "@") {
        std::ofstream(path_) << text;
        return std::string(before) + path_;
    }
    std::string path_ = std::filesystem::path(testing::TempDir()) / fmt::format("limit_{}", getpid());
};

TEST_F(LimitFile, HasOnePatternALine) {
    EXPECT_EQ(select(with("# fleet\n gpu01 \r\n\ngpu[05-06] # two\nrack1,login2")), "gpu[01-06],login2");
    EXPECT_EQ(select(with("rack1\n!gpu01\n")), "gpu[02-04]");
    EXPECT_EQ(select("rack1," + with("gpu01\ngpu02\n", "!@")), "gpu[03-04]");
    EXPECT_EQ(select("gpu," + with("gpu01\nrack2\n", "&@")), "gpu[01,05-08]")
        << "one intersection with their union";
}

TEST_F(LimitFile, AnErrorNamesItsLine) {
    EXPECT_EQ(select(with("gpu01\ngpu99\n")),
              path_ + ":2: no host or group matches \"gpu99\" | did you mean gpu?");
    EXPECT_EQ(select(with("gpu01\n@x\n")), path_ + ":2: \"@x\": a file can not name another");
    EXPECT_EQ(select("all," + with("@x\n", "!@")),
              path_ + ":1: no host or group matches \"@x\" | " +
                  "groups: all, gpu, h200, login1, rack1, rack2, spare, ungrouped");
    EXPECT_EQ(select("all," + with("!gpu01\n", "!@")),
              path_ + ":1: \"!gpu01\": a sign inside of a file that has one");
}

TEST_F(LimitFile, WithoutAPatternIsAnError) {
    EXPECT_EQ(select(with("# nothing\n")), path_ + ": names no host");
    EXPECT_EQ(select("all," + with("", "!@")), path_ + ": names no host");
    EXPECT_EQ(select("@" + path_ + ".none"), path_ + ".none: can not be read: No such file or directory");
    EXPECT_EQ(select("@-"), "@- is no file | write the patterns to a file");
}

TEST(Glob, MatchesTheWholeText) {
    EXPECT_TRUE(glob("", ""));
    EXPECT_TRUE(glob("*", ""));
    EXPECT_TRUE(glob("a*b?d", "axxbcd"));
    EXPECT_TRUE(glob("*a*a", "bababa"));
    EXPECT_FALSE(glob("", "a"));
    EXPECT_FALSE(glob("?", ""));
    EXPECT_FALSE(glob("a*", "ba"));
    EXPECT_FALSE(glob("*a", "ab"));
}

TEST(Glob, ManyStarsAreNoTrouble) {
    std::string pattern;
    for (int i = 0; i < 100; ++i) pattern += "*a";
    EXPECT_FALSE(glob(pattern + "*b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace cleanslate::inventory
