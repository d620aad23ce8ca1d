#include "controller/history/prune.hpp"

#include <gmock/gmock.h>

#include "controller/history/diff.hpp"
#include "controller/history/report_parts.hpp"
#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::ElementsAre;

class Prunes : public WithHistory {
  protected:
    Pruning plan(const Keep& keep) {
        auto made = plan_prune(store(), keep);
        EXPECT_TRUE(made);
        return made.value_or(Pruning{});
    }
    Pruned let_go(const Keep& keep) {
        const auto pruned = prune(store(), plan(keep));
        EXPECT_TRUE(pruned) << (pruned ? "" : pruned.error().message);
        return pruned.value_or(Pruned{});
    }
    static std::vector<SweepId> ids(const std::vector<SweepHead>& sweeps) {
        std::vector<SweepId> ids;
        for (const SweepHead& sweep : sweeps) ids.push_back(sweep.id);
        return ids;
    }
    std::vector<SweepId> left() { return ids(sweeps(store(), {}).value_or(std::vector<SweepHead>{})); }
};

TEST_F(Prunes, KeepWhatIsYoungOrAmongTheNewestOfItsScope) {
    for (int i = 0; i < 5; ++i) night({clean("a")});
    night({clean("b")}, {"-H", "b"});
    nights_ = 0;
    EXPECT_THAT(ids(plan({first_night + 3 * day, 0}).going), ElementsAre(1, 2, 3));
    EXPECT_THAT(ids(plan({std::nullopt, 2}).going), ElementsAre(1, 2, 3));
    EXPECT_THAT(ids(plan({first_night + 9 * day, 1}).going), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(plan({first_night + 9 * day, 1}).staying, 2u);
    EXPECT_THAT(ids(plan({first_night, 0}).going), ElementsAre());
}

TEST_F(Prunes, LeaveTheOthersWhole) {
    night({clean("a"), dirty("gone")});
    night({clean("a"), dirty("b")});
    night({clean("a"), dirty("b")});
    let_go({first_night + day, 0});
    EXPECT_THAT(left(), ElementsAre(3, 2));
    EXPECT_EQ(load_report(store(), 3).value_or(Report{}).result.hosts.size(), 2u)
        << "its base is still there";
    const auto now = diff(store(), 3);
    ASSERT_TRUE(now);
    EXPECT_EQ(now->still_dirty.at(0).dirty_since, first_night + day);
    EXPECT_EQ(text_of("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(text_of("PRAGMA foreign_key_check"), "");
}

TEST_F(Prunes, DoNotForgetSinceWhenAHostIsDirty) {
    for (int i = 0; i < 4; ++i) night({dirty("a")});
    let_go({std::nullopt, 2});
    EXPECT_EQ(diff(store(), 4).value_or(Diff{}).still_dirty.at(0).dirty_since, first_night);
}

TEST_F(Prunes, LetGoOfWhatNothingNeeds) {
    night({clean("a"), dirty("b")}, {"-H", "old"});
    HostOutcome other = dirty("c");
    other.last->gpus[2].holders[0].command = "something else";
    night({other});
    let_go({first_night + day, 0});
    const auto count = [&](const std::string& table) { return integer_of("SELECT count(*) FROM " + table); };
    EXPECT_EQ(count("hosts"), 1);
    EXPECT_EQ(count("gpu_sets"), 1);
    EXPECT_EQ(count("scopes"), 1);
    EXPECT_EQ(count("bases"), 2);
    EXPECT_EQ(count("words WHERE text = 'sleep 100000'"), 0);
    EXPECT_EQ(count("words WHERE text = 'something else'"), 1);
    let_go({first_night + 9 * day, 0});
    for (const char* table : {"sweeps", "hosts", "gpu_sets", "scopes", "bases", "words", "parts",
                              "host_results", "gpu_results", "holders", "findings", "actions"})
        EXPECT_EQ(count(table), 0) << table;
}

TEST_F(Prunes, MakeTheFileSmaller) {
    for (int night_number = 0; night_number < 20; ++night_number) {
        std::vector<HostOutcome> hosts;
        for (int i = 0; i < 300; ++i)
            hosts.push_back(dirty("host" + std::to_string(night_number * 1000 + i)));
        night(hosts);
    }
    const Pruned pruned = let_go({std::nullopt, 2});
    EXPECT_LT(pruned.bytes_after, pruned.bytes_before / 4);
    EXPECT_EQ(std::filesystem::file_size(file()), pruned.bytes_after);
    EXPECT_EQ(integer_of("PRAGMA freelist_count"), 0);
    EXPECT_EQ(text_of("PRAGMA integrity_check"), "ok");
}

// As a kill would: everything that a step has done is there, and nothing of the next one.
TEST_F(Prunes, GoOnWhereTheOneBeforeWasCut) {
    for (int i = 0; i < 5; ++i) night({dirty("a")});
    Pruning half = plan({std::nullopt, 1});
    half.going.resize(2);
    ASSERT_TRUE(prune(store(), half));
    EXPECT_THAT(left(), ElementsAre(5, 4, 3));
    let_go({std::nullopt, 1});
    EXPECT_THAT(left(), ElementsAre(5));
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
