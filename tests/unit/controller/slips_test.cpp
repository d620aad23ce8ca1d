#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Slips, OfOptionsNameTheNearOne) {
    EXPECT_THAT(
        refusal({"clear", "-H", "a", "--dryrun"}),
        HasSubstr("no such option: --dryrun. Did you mean --dry-run?\nSee `cleanslate clear --help`"));
    EXPECT_THAT(refusal({"clear", "-H", "a", "--dry_run"}), HasSubstr("Did you mean --dry-run?"));
    EXPECT_THAT(refusal({"clear", "-H", "a", "--max-kill=5"}), HasSubstr("Did you mean --max-kills?"));
    EXPECT_THAT(refusal({"check", "-H", "a", "--JSON"}), Not(HasSubstr("Did you mean")));
    EXPECT_THAT(refusal({"history", "show", "last", "--formt", "json"}), HasSubstr("Did you mean --format?"));
}

TEST(Slips, OfOptionsOfOtherCommandsNameThose) {
    EXPECT_THAT(refusal({"check", "-H", "a", "--yes"}), HasSubstr("--yes belongs to clear, run and trust"));
    EXPECT_THAT(refusal({"hosts", "-H", "a", "--deadline", "1h"}),
                HasSubstr("--deadline belongs to check, "));
    EXPECT_THAT(refusal({"check", "-H", "a", "--keep=3d"}), HasSubstr("--keep belongs to history prune"));
    EXPECT_THAT(refusal({"check", "-H", "a", "--dryrun"}),
                HasSubstr("Did you mean --dry-run? That belongs to clear and history prune"));
}

TEST(Slips, ThatAreNoOptionSayHowHostsAreNamed) {
    EXPECT_THAT(refusal({"check", "-i", "x", "gpu01"}),
                HasSubstr("not expected here: gpu01. Hosts are named"));
}

TEST(Slips, OfHandsThatKnowOtherToolsSayWhatItIsHere) {
    EXPECT_THAT(refusal({"check", "-w", "gpu01"}), HasSubstr("no such option: -w: here it is -H HOSTS"));
    EXPECT_THAT(refusal({"check", "-H", "a", "--forks", "5"}), HasSubstr("here it is --fanout"));
    EXPECT_THAT(refusal({"clear", "-H", "a", "-y"}), HasSubstr("here it is --yes"));
    EXPECT_THAT(refusal({"run", "-H", "a", "uptime"}),
                HasSubstr("The command comes behind --: run -l all -- uptime"));
}

TEST(Slips, OfUsersAreRefusedAsInAnInventory) {
    for (const std::string user : {"a b", "-oX", "", "a\tb", "{{ x }}"})
        EXPECT_THAT(refusal({"check", "-H", "a", "--user=" + user}), HasSubstr("--user: ")) << user;
    EXPECT_THAT(refusal({"check", "-H", "a", "-u", "a b"}),
                HasSubstr("--user: \"a b\" is no user name; no blanks, "));
    EXPECT_EQ(read({"check", "-H", "a", "-u", "CORP\\bob"}).user, "CORP\\bob");
}

TEST(Slips, OfOptionsBeforeTheCommandSayWhereTheyBelong) {
    EXPECT_THAT(
        refusal({"--config", "none", "check"}),
        HasSubstr("no such option: --config: write it behind the command: cleanslate check --config ..."));
    EXPECT_THAT(refusal({"--config=none", "check"}), HasSubstr("cleanslate check --config ..."));
    EXPECT_THAT(refusal({"-i", "z.yml", "check"}), HasSubstr("behind the command: cleanslate check -i ..."));
    EXPECT_THAT(refusal({"-iz.yml", "check"}), HasSubstr("behind the command: cleanslate check -i ..."));
    EXPECT_THAT(refusal({"-i", "z.yml"}), HasSubstr("behind the command: cleanslate COMMAND -i ..."));
    EXPECT_THAT(refusal({"history", "--keep", "3d", "prune"}),
                HasSubstr("behind the command: cleanslate history prune --keep ..."));
    EXPECT_THAT(refusal({"--yes", "check", "-H", "a"}), HasSubstr("--yes belongs to clear, run and trust"));
    EXPECT_THAT(refusal({"--confg", "none", "check"}), HasSubstr("Did you mean --config?"));
}

TEST(Slips, OfChoicesNameTheNearOne) {
    EXPECT_THAT(refusal({"check", "-H", "a", "--color", "alway"}), HasSubstr("Did you mean always?"));
    EXPECT_THAT(refusal({"check", "-H", "a", "--format", "jsn"}), HasSubstr("Did you mean json?"));
    EXPECT_THAT(refusal({"check", "-H", "a", "--format", "htlm=x"}), HasSubstr("Did you mean html?"));
    EXPECT_THAT(refusal({"check", "-H", "a", "--host-key-check", "acceptnew"}),
                HasSubstr("Did you mean accept-new?"));
    EXPECT_THAT(refusal({"audit", "--format", "xml"}), Not(HasSubstr("Did you mean")));
}

TEST(Slips, OfCommandsNameTheNearOne) {
    EXPECT_THAT(refusal({"hepl"}), HasSubstr("no such command: hepl. Did you mean help?"));
    EXPECT_THAT(refusal({"clera", "--yes"}), HasSubstr("Did you mean clear?"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
