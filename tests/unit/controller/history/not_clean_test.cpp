#include "controller/history/not_clean.hpp"

#include <gmock/gmock.h>

#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NotCleanHosts : public WithHistory {
  protected:
    NotClean found(const std::string& inventory = "/etc/fleet.yaml") {
        const auto hosts = not_clean(store(), inventory);
        EXPECT_TRUE(hosts) << (hosts ? "" : hosts.error().message);
        return hosts.value_or(NotClean{});
    }
};

TEST_F(NotCleanHosts, AreAllThatWereNotSeenCleanInTheirOrder) {
    night({unreachable_host("z"), clean("y"), sick("x"), dirty("w"), not_tried_host("a")});
    const auto last = found();
    EXPECT_THAT(last.names, ElementsAre("z", "x", "w", "a"));
    EXPECT_EQ(last.hosts, 5u);
    EXPECT_EQ(last.sweep.id, 1);
}

TEST_F(NotCleanHosts, AreThoseThatTheirNewestSweepLeftSoWhateverItsLimit) {
    night({dirty("a"), dirty("b"), clean("d")});
    night({clean("a"), dirty("b")}, {"/etc/fleet.yaml", "rack1"});
    night({dirty("c")}, {"/etc/other.yaml", "all"});
    EXPECT_THAT(found().names, ElementsAre("b"));
    EXPECT_EQ(found().sweeps, 2u);
    EXPECT_EQ(found().hosts, 3u);
    EXPECT_THAT(found("/etc/other.yaml").names, ElementsAre("c"));
    night({clean("a")}, {"/etc/fleet.yaml", "a"});
    EXPECT_THAT(found().names, ElementsAre("b")) << "a look at one host is no news of the others";
    night({dirty("d")}, {"/etc/fleet.yaml", "d"});
    EXPECT_THAT(found().names, ElementsAre("d", "b"));
    night({clean("a"), clean("b"), dirty("d")});
    EXPECT_THAT(found().names, ElementsAre("d"));
    EXPECT_EQ(found().sweeps, 1u);
}

TEST_F(NotCleanHosts, AreThoseOfAllShards) {
    night({dirty("a"), clean("b")}, {"/etc/fleet.yaml", "all (shard 1/2)"});
    night({clean("c"), clean("d")}, {"/etc/fleet.yaml", "all (shard 2/2)"});
    EXPECT_THAT(found().names, ElementsAre("a"));
    EXPECT_EQ(found().hosts, 4u);
    night({clean("a"), clean("b")}, {"/etc/fleet.yaml", "all (shard 1/2)"});
    EXPECT_THAT(found().names, IsEmpty());
}

TEST_F(NotCleanHosts, AreNotForgottenWhereALimitMeansFewerHostsThanBefore) {
    night({clean("a"), clean("b"), clean("c")});
    night({dirty("a"), unreachable_host("b")}, {"/etc/fleet.yaml", "slurm partition gpu (idle)"});
    night({dirty("a")}, {"/etc/fleet.yaml", "slurm partition gpu (idle)"});
    EXPECT_THAT(found().names, ElementsAre("a", "b"));
    EXPECT_EQ(found().hosts, 3u);
    night({clean("a")}, {"/etc/fleet.yaml", "slurm partition gpu (idle)"});
    EXPECT_THAT(found().names, ElementsAre("b"));
}

TEST_F(NotCleanHosts, AreNoOlderThanALookAtAllShards) {
    night({dirty("gone")}, {"/etc/fleet.yaml", "all (shard 2/2)"});
    night({dirty("a")}, {"/etc/fleet.yaml", "all (shard 1/2)"});
    night({clean("b")}, {"/etc/fleet.yaml", "all (shard 2/2)"});
    EXPECT_THAT(found().names, ElementsAre("a"));
    night({clean("c")}, {"/etc/fleet.yaml", "all (shard 1/3)"});
    night({clean("d")}, {"/etc/fleet.yaml", "all (shard 1/3)"});
    night({clean("e")}, {"/etc/fleet.yaml", "all (shard 3/3)"});
    EXPECT_THAT(found().names, ElementsAre("a")) << "one of the three shards is missing";
}

TEST_F(NotCleanHosts, OfASweepThatWasCutAreAlsoThoseThatItNeverBegan) {
    Report cut = report_of({clean("a"), not_tried_host("b"), not_tried_host("c")});
    cut.result.interrupted = true;
    night_of(cut);
    EXPECT_THAT(found().names, ElementsAre("b", "c"));
}

TEST_F(NotCleanHosts, OfADryRunCount) {
    Report dry = report_of({dirty("a"), clean("b")}, "clear");
    dry.dry_run = true;
    night_of(dry);
    EXPECT_THAT(found().names, ElementsAre("a"));
}

TEST_F(NotCleanHosts, OfAnInventoryThatNobodyLookedAtAreAnError) {
    EXPECT_EQ(not_clean(store(), "/etc/fleet.yaml").error().kind, "history_no_sweep");
    night({dirty("a")});
    EXPECT_EQ(not_clean(store(), "/etc/other.yaml").error().kind, "history_no_sweep");
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
