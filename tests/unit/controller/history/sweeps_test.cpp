#include "controller/history/sweeps.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "controller/history/sweeps_view.hpp"
#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Sweeps : public WithHistory {
  protected:
    std::vector<SweepId> ids(const SweepQuery& query) {
        const auto found = sweeps(store(), query);
        EXPECT_TRUE(found);
        std::vector<SweepId> ids;
        for (const SweepHead& sweep : found.value_or(std::vector<SweepHead>{})) ids.push_back(sweep.id);
        return ids;
    }
};

TEST_F(Sweeps, AreListedNewestFirst) {
    night({clean("a")});
    night({clean("a")}, {"/etc/other.yaml", "all"});
    night({clean("a")}, {"/etc/fleet.yaml", "rack1"});
    EXPECT_THAT(ids({}), ElementsAre(3, 2, 1));
    EXPECT_THAT(ids({2, {}, {}}), ElementsAre(3, 2));
    EXPECT_THAT(ids({{}, first_night + day, {}}), ElementsAre(3, 2));
    EXPECT_THAT(ids({{}, {}, "/etc/fleet.yaml"}), ElementsAre(3, 1));
    EXPECT_THAT(ids({1, {}, "/etc/other.yaml"}), ElementsAre(2));
}

TEST_F(Sweeps, AreFoundByNumberAndAsTheLast) {
    EXPECT_THAT(find_sweep(store(), "last").error().message, HasSubstr("no sweep yet"));
    night({clean("a")});
    night({clean("a")});
    EXPECT_EQ(find_sweep(store(), "1")->id, 1);
    EXPECT_EQ(find_sweep(store(), "last")->id, 2);
    for (const char* word : {"3", "0", "99999999999999999999", "-1", "first", "", "1 ", "\x1b[2J"}) {
        const auto found = find_sweep(store(), word);
        ASSERT_FALSE(found) << word;
        EXPECT_EQ(found.error().kind, "history_no_sweep");
        EXPECT_EQ(found.error().message.find('\x1b'), std::string::npos);
    }
}

TEST_F(Sweeps, HaveAPredecessorOfTheSameScope) {
    const SweepScope other{"/etc/fleet.yaml", "rack1"};
    night({clean("a")});
    night({clean("a")}, other);
    night({clean("a")});
    const auto before = [&](SweepId id) {
        const auto found = predecessor_of(store(), *find_sweep(store(), id));
        EXPECT_TRUE(found);
        return found && *found ? (*found)->id : 0;
    };
    EXPECT_EQ(before(3), 1);
    EXPECT_EQ(before(2), 0);
    EXPECT_EQ(before(1), 0);
}

TEST_F(Sweeps, ReadAsATranscript) {
    night({clean("a"), dirty("b"), unreachable_host("c")});
    Report cut = report_of({clean("a"), not_tried_host("b")}, "clear");
    cut.playbook = "sweep";
    cut.result.interrupted = true;
    night_of(cut);
    Report dry = report_of({sick("a")}, "clear");
    dry.dry_run = true;
    night_of(dry, {"-H", "a"});
    Page page(80, false);
    sweeps_text(page, *sweeps(store(), {}), 7);
    EXPECT_EQ(page.take(), R"(-H, a
     3  2026-11-30T02:00:00Z  clear, dry run  1 sick; 1.9 s
/etc/fleet.yaml, all
     2  2026-11-29T02:00:00Z  clear sweep  1 clean, 1 never begun; 1.9 s; sto...
     1  2026-11-28T02:00:00Z  check     1 unreachable, 1 dirty, 1 clean; 1.9 s
and 7 older: --last N or --since shows them
)");
    const auto json = nlohmann::json::parse(sweeps_json(*sweeps(store(), {})));
    EXPECT_EQ(json["schema"], "cleanslate.sweeps/1");
    ASSERT_EQ(json["sweeps"].size(), 3u);
    EXPECT_EQ(json["sweeps"][1]["stopped_by"], "interrupted");
    EXPECT_EQ(json["sweeps"][1]["hosts"]["not_begun"], 1);
    EXPECT_EQ(json["sweeps"][2]["hosts"]["unreachable"], 1);
    EXPECT_EQ(json["sweeps"][2]["playbook"], nullptr);
    EXPECT_EQ(json["sweeps"][0]["dry_run"], true);
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
