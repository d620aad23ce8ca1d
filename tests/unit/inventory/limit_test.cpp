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
    EXPECT_EQ(select("gpu0[2:3]"), "gpu[02-03]");
    EXPECT_EQ(select("rack[1-2]"), "gpu[01-08]");
    EXPECT_EQ(select("*[1-2]"), "::1,gpu[01-08],login[1-2]");
}

TEST(Limit, ARangeWithANameThatDoesNotExistIsAnError) {
    EXPECT_EQ(
        select("gpu[07-10]"),
        "\"gpu[07-10]\": no host or group matches gpu[09-10] | places in the group gpu are written with a "
        "colon: gpu[0:3]");
    EXPECT_EQ(select("login[2-3]"), "\"login[2-3]\": no host or group matches login3 | did you mean login1?");
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

TEST(Limit, TakesColonsForCommas) {
    EXPECT_EQ(select("rack1:login2"), "gpu[01-04],login2");
    EXPECT_EQ(select("rack1:rack2:!gpu05:&gpu0[4-6]"), "gpu[04,06]");
    EXPECT_EQ(select("::1:gpu01"),
              "an empty pattern in \"::1:gpu01\" | commas stand between IPv6 addresses, and around them");
    EXPECT_EQ(select("::1,gpu01"), "::1,gpu01");
    EXPECT_EQ(select("gpu01:22").substr(0, 33), "no host or group matches \"22\" | g");
}

TEST(Limit, ReadsGluedSignsOnlyWhereTheirOrderDoesNotMatter) {
    EXPECT_EQ(select("rack1!gpu01,rack2"), "gpu[02-08]");
    EXPECT_EQ(select("rack1^gpu[03-06]"), "gpu[01-02,05-06]");
    EXPECT_EQ(
        select("rack1!gpu01,h200"),
        "\"rack1!gpu01,h200\": from left to right gpu01 is in it, with all signs at the end it is not | "
        "name hosts first and put the signs behind them: n[1-9],m1!n3");
    EXPECT_EQ(
        select("^hosts.txt"),
        "\"^hosts.txt\": nothing stands before the ^ | write @FILE for the names in a file: @hosts.txt");
}

TEST(Limit, MatchesRegularExpressionsOverHostsAndGroups) {
    EXPECT_EQ(select("~gpu0[1-2]"), "gpu[01-02]");
    EXPECT_EQ(select("~gpu"), "gpu[01-08]") << "from the start, not to the end";
    EXPECT_EQ(select("~(rack1|login).*:!~gpu.*[13]$"), "gpu[02,04],login[1-2]");
    EXPECT_EQ(select("all,!~rack"), "::1,login[1-2]");
    EXPECT_EQ(select("~gpu0{1,2}[12]$,login1"), "gpu[01-02],login[1-2]");
    EXPECT_EQ(select("~pu"), "no host or group matches \"~pu\" | did you mean gpu?");
    EXPECT_EQ(select("~(").substr(0, 28), "the regular expression \"(\": ");
}

TEST(Limit, TakesPlacesInAGroup) {
    EXPECT_EQ(select("rack1[0]"), "gpu01");
    EXPECT_EQ(select("rack1[-1]"), "gpu04");
    EXPECT_EQ(select("rack1[1:2]"), "gpu[02-03]");
    EXPECT_EQ(select("rack1[2:]"), "gpu[03-04]");
    EXPECT_EQ(select("rack1[0:0]"), "gpu01");
    EXPECT_EQ(select("rack1[0:99]"), "gpu[01-04]");
    EXPECT_EQ(select("all[0:3]"), "gpu[01-04]");
    EXPECT_EQ(select("gpu03[0]"), "gpu03");
    EXPECT_EQ(select("gpu:!rack1[1:]:!rack2[-2]"), "gpu[01,05-06,08]");
}

TEST(Limit, RefusesPlacesThatAreNotThere) {
    EXPECT_EQ(select("rack1[4]"),
              "\"rack1[4]\": rack1 has 4 hosts | the first has the place 0, the last one -1");
    EXPECT_EQ(select("rack1[-5]"),
              "\"rack1[-5]\": rack1 has 4 hosts | the first has the place 0, the last one -1");
    EXPECT_EQ(select("rack1[4:]"), "\"rack1[4:]\": rack1 has 4 hosts | the first has the place 0");
    EXPECT_EQ(select("rack1[3:1]"), "\"rack1[3:1]\" runs backwards | write the lower place first");
    EXPECT_EQ(select("rack1[3:0]"), "\"rack1[3:0]\" runs backwards | write the lower place first");
    EXPECT_EQ(select("rack1[0-2]"),
              "\"rack1[0-2]\": no host or group matches rack[10-12] | places in the group rack1 are written "
              "with a colon: rack1[0:3]");
    EXPECT_EQ(select("rack*[0]").substr(0, 50), "\"rack*[0]\": to Ansible a place among what the glob");
}

TEST(Limit, RefusesWhatMayBeNamesOrPlaces) {
    EXPECT_EQ(select("gpu[01-02]"), "gpu[01-02]") << "names, though gpu is a group";
    EXPECT_EQ(
        select("gpu[01:02]"),
        "\"gpu[01:02]\": names that begin with gpu, or places in gpu? They select different hosts | write "
        "[01-02] for names");
    EXPECT_EQ(select("gpu[1:2]"), "gpu[02-03]") << "there is no gpu1";
    EXPECT_EQ(select("login[1:2]"), "login[1-2]") << "there is no group login";
}

TEST(Limit, TakesClassesOfCharactersWhereTheyAreNoRange) {
    EXPECT_EQ(select("gp[tu]0*"), "gpu[01-08]");
    EXPECT_EQ(select("gpu0[!1-6]"), "gpu[07-08]");
    EXPECT_EQ(select("*[1-2]"), "::1,gpu[01-08],login[1-2]");
    EXPECT_EQ(select("gpu0[1-9]*"), "gpu[01-08]") << "of a glob not each name must be there";
    EXPECT_EQ(select("gpu0[12]*"),
              "\"gpu0[12]*\": a range of names here, to Ansible a class of characters that selects others | "
              "write the globs out: n1*,n2*");
    EXPECT_EQ(select("gpu[04-01]"),
              "\"gpu[04-01]\": the range 04-01 runs backwards | write the lower end first");
}

TEST(Limit, TakesNoMoreThanItsShareOfTime) {
    EXPECT_EQ(selected("*x[0-99999999]*").error().kind, "range");
    const auto large = Inventory::parse("all: {hosts: {'n[1-10000]': }}", "f.yaml").value();
    for (const auto* limit : {"n1,x*[1-2500]", "n1,!x*[1-2500]", "n1,&x*[1-2500]"})
        EXPECT_EQ(large.select(limit).error().message, "the limit takes more than 20000000 comparisons")
            << limit;
    std::string many = "n1";
    for (int i = 0; i < 2'500; ++i) many += ",&all";
    EXPECT_EQ(large.select(many).error().message, "the limit takes more than 20000000 comparisons");
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

TEST_F(LimitFile, MayHaveSeveralALineAndWhatMpiReads) {
    EXPECT_EQ(select(with("gpu01 gpu02\tlogin2\ngpu[05,\n06]\n")), "gpu[01-02,05-06],login2");
    EXPECT_EQ(select(with("gpu01 slots=8\ngpu02 slots=0\n")), "gpu[01-02]");
    EXPECT_EQ(select(with("rack1!gpu01\nrack2[0]\n")), "gpu[02-05]");
    EXPECT_NE(select(with("!all\n")).find("only takes hosts away"), std::string::npos)
        << "what a list of nobody is for Ansible";
}

TEST_F(LimitFile, AnErrorNamesItsLine) {
    EXPECT_EQ(select(with("gpu01\ngpu99\n")),
              path_ + ":2: no host or group matches \"gpu99\" | did you mean gpu?");
    EXPECT_EQ(select(with("gpu01\n@x\n")), path_ + ":2: \"@x\": a file can not name another");
    EXPECT_EQ(select("all," + with("@x\n", "!@")), path_ + ":1: \"@x\": a file can not name another");
    EXPECT_EQ(select("all," + with("!gpu01\n", "!@")),
              path_ + ":1: \"gpu01\": a sign inside of a file that has one");
}

TEST_F(LimitFile, WithoutAPatternIsAnError) {
    const std::string none = ": names no host | an empty list selects nothing";
    EXPECT_EQ(select(with("# nothing\n")), path_ + none);
    EXPECT_EQ(select("all," + with("", "!@")), path_ + none);
    EXPECT_EQ(select("@" + path_ + ".none"), path_ + ".none: can not be read: No such file or directory");
    EXPECT_EQ(select("@rack1"),
              "rack1: can not be read: No such file or directory | @ names a file; the group "
              "is called rack1 without it");
    EXPECT_EQ(select("@*").substr(0, 60), "*: can not be read: No such file or directory | @ names a fi");
}

}  // namespace
}  // namespace cleanslate::inventory
