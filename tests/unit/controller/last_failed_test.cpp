#include "controller/last_failed.hpp"

#include <gmock/gmock.h>

#include "controller/settings.hpp"
#include "history/nights.hpp"

namespace cleanslate::controller::testing {
namespace {

using history::testing::clean;
using history::testing::dirty;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LastFailedHosts : public history::testing::WithHistory {
  protected:
    LastFailedHosts() {
        inventory(
            "all:\n  children:\n    rack1:\n      hosts: {gpu01: , gpu02: }\n"
            "    gpu03:\n      hosts: {gpu03: , gpu04: }\n");
        options_.inventories = {folder_.file("fleet.yaml")};
        options_.history = file();
        options_.last_failed = true;
    }
    void inventory(const std::string& text) { put(folder_.file("fleet.yaml"), text); }
    void swept(std::vector<HostOutcome> hosts) {
        night(std::move(hosts), scope_of(options_));
        close();
    }
    LastFailed narrowed() {
        auto last = narrow_to_last_failed(options_, {});
        EXPECT_TRUE(last) << (last ? "" : last.error().message);
        return last.value_or(LastFailed{});
    }
    std::string refused() {
        const auto last = narrow_to_last_failed(options_, {});
        EXPECT_FALSE(last);
        return last ? "" : last.error().message;
    }
    Options options_;
};

TEST_F(LastFailedHosts, AreSelectedAndNobodyElse) {
    swept({clean("gpu01"), dirty("gpu02"), dirty("gpu03"), clean("gpu04")});
    const auto last = narrowed();
    ASSERT_TRUE(last.narrowed);
    EXPECT_EQ(last.narrowed->limit, "gpu[02-03]");
    const auto selection = select_hosts(*last.narrowed);
    ASSERT_TRUE(selection);
    std::vector<std::string> names;
    for (const auto& host : selection->hosts) names.push_back(host.name);
    EXPECT_THAT(names, ElementsAre("gpu02", "gpu03")) << "not the group gpu03, which has gpu04, too";
    EXPECT_FALSE(last.narrowed->last_failed);
    EXPECT_THAT(last.notes, ElementsAre(HasSubstr("2 of 4 hosts not clean in sweep 1 (check, ")));
}

TEST_F(LastFailedHosts, AreThoseOfTheLimitToo) {
    swept({clean("gpu01"), dirty("gpu02"), dirty("gpu03"), clean("gpu04")});
    options_.limit = "rack1";
    EXPECT_EQ(narrowed().narrowed->limit, "gpu02");
    options_.limit = "gpu01";
    EXPECT_THAT(refused(), HasSubstr("2 hosts not clean in sweep 1"));
    EXPECT_THAT(refused(), HasSubstr("none is selected now"));
}

TEST_F(LastFailedHosts, ThatAreGoneAreNamed) {
    swept({dirty("gpu01"), dirty("old01"), dirty("old02")});
    options_.limit = "rack1";
    const auto last = narrowed();
    EXPECT_EQ(last.narrowed->limit, "gpu01");
    EXPECT_THAT(last.notes[0], HasSubstr("gone from the inventory: old[01-02]"));
    inventory("all: {hosts: {new01: }}\n");
    options_.limit.reset();
    EXPECT_THAT(refused(), HasSubstr("none is selected now"));
}

TEST_F(LastFailedHosts, AreNoneWhereAllWereClean) {
    swept({clean("gpu01"), clean("gpu02")});
    const auto last = narrowed();
    EXPECT_FALSE(last.narrowed);
    EXPECT_THAT(last.notes, ElementsAre(HasSubstr("nothing to repeat: 2 hosts of sweep 1")));
    EXPECT_THAT(last.notes[0], HasSubstr("nothing is proven of today"));
}

TEST_F(LastFailedHosts, NeedAHistoryWithASweepOfTheInventory) {
    EXPECT_THAT(refused(), HasSubstr("history"));
    night({dirty("gpu01")}, {"/etc/other.yaml", "all"});
    close();
    EXPECT_THAT(refused(), HasSubstr("no sweep of inventory"));
    options_.history.reset();
    EXPECT_THAT(refused(), HasSubstr("which history"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
