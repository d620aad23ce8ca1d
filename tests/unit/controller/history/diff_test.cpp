#include "controller/history/diff.hpp"

#include <gmock/gmock.h>

#include "controller/history/diff_view.hpp"
#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Diffs : public WithHistory {
  protected:
    Diff of(SweepId newer, std::optional<SweepId> older = std::nullopt) {
        auto made = diff(store(), newer, older);
        EXPECT_TRUE(made) << (made ? "" : made.error().message);
        return made.value_or(Diff{});
    }
};

std::vector<std::string> names(const std::vector<HostChange>& changes) {
    std::vector<std::string> names;
    for (const HostChange& change : changes) names.push_back(change.host);
    return names;
}

TEST_F(Diffs, PlacesEachHostByWhatItWasAndWhatItIs) {
    night({clean("a"), clean("b"), clean("c"), dirty("d"), dirty("e"), dirty("f"), unreachable_host("g"),
           unreachable_host("h"), unreachable_host("i")});
    const Diff now = of(night({clean("a"), dirty("b"), unreachable_host("c"), clean("d"), sick("e"),
                               unreachable_host("f"), clean("g"), dirty("h"), unreachable_host("i")}));
    EXPECT_THAT(names(now.newly_dirty), ElementsAre("b", "h"));
    EXPECT_THAT(names(now.newly_clean), ElementsAre("d", "g"));
    EXPECT_THAT(names(now.newly_unknown), ElementsAre("c", "f"));
    EXPECT_THAT(names(now.still_dirty), ElementsAre("e"));
    EXPECT_THAT(names(now.still_unknown), ElementsAre("i"));
    EXPECT_EQ(now.still_clean, 1u);
    EXPECT_TRUE(now.anything_newly_dirty_or_clean());
}

TEST_F(Diffs, CountsTheDaysOfDirtFromTheFirstOfTheUnbrokenRun) {
    night({dirty("a")});
    night({clean("a")});
    night({dirty("a")});
    night({sick("a")});
    const Diff now = of(night({dirty("a")}));
    ASSERT_THAT(names(now.still_dirty), ElementsAre("a"));
    EXPECT_EQ(now.still_dirty[0].dirty_since, first_night + 2 * day);
}

TEST_F(Diffs, UnknownInBetweenEndsNoRunOfDirt) {
    night({dirty("a")});
    const Diff dark = of(night({unreachable_host("a")}));
    ASSERT_THAT(names(dark.newly_unknown), ElementsAre("a"));
    EXPECT_EQ(dark.newly_unknown[0].dirty_since, first_night);
    EXPECT_EQ(dark.newly_unknown[0].unknown_since, first_night + day);
    const Diff now = of(night({dirty("a")}));
    EXPECT_THAT(names(now.newly_dirty), IsEmpty()) << "it is the old dirt, as far as anybody can tell";
    ASSERT_THAT(names(now.still_dirty), ElementsAre("a"));
    EXPECT_EQ(now.still_dirty[0].dirty_since, first_night);
    EXPECT_EQ(now.still_dirty[0].before, Verdict::unreachable);
}

TEST_F(Diffs, CountsHowLongAHostHasBeenUnknown) {
    night({clean("a")});
    night({unreachable_host("a")});
    night({unreachable_host("a")});
    const Diff now = of(night({unreachable_host("a")}));
    ASSERT_THAT(names(now.still_unknown), ElementsAre("a"));
    EXPECT_EQ(now.still_unknown[0].unknown_since, first_night + day);
    EXPECT_EQ(now.still_unknown[0].why, "connect: connection refused");
}

TEST_F(Diffs, SaysNothingOfHostsThatWereNeverBegunAndLooksBehindThem) {
    night({clean("a"), dirty("b"), unreachable_host("c")});
    Report cut = report_of({not_tried_host("a"), not_tried_host("b"), not_tried_host("c")});
    cut.result.interrupted = true;
    const Diff stopped = of(night_of(cut));
    EXPECT_EQ(stopped.not_looked_at, 3u);
    EXPECT_THAT(names(stopped.newly_unknown), IsEmpty());
    const Diff now = of(night({clean("a"), dirty("b"), unreachable_host("c")}));
    EXPECT_EQ(now.still_clean, 1u);
    EXPECT_THAT(names(now.still_dirty), ElementsAre("b"));
    EXPECT_THAT(names(now.still_unknown), ElementsAre("c"));
    EXPECT_FALSE(now.anything_newly_dirty_or_clean());
}

TEST_F(Diffs, AHostThatIsCleanInPartIsNotComparedAndItsDirtGoesOn) {
    HostOutcome in_part = dirty("a");
    in_part.verdict = in_part.last->verdict = agentless::Verdict::clean;
    for (auto& gpu : in_part.last->gpus) gpu.judged = gpu.verdict == agentless::Verdict::clean;
    ASSERT_TRUE(is_clean_in_part(in_part));
    night({dirty("a")});
    const Diff now = of(night({in_part}));
    EXPECT_THAT(names(now.newly_clean), IsEmpty());
    EXPECT_EQ(now.still_clean, 0u);
    EXPECT_EQ(now.not_looked_at, 1u);
    const Diff later = of(night({dirty("a")}));
    EXPECT_THAT(names(later.newly_dirty), IsEmpty());
    ASSERT_THAT(names(later.still_dirty), ElementsAre("a"));
    EXPECT_EQ(later.still_dirty[0].dirty_since, first_night);
}

TEST_F(Diffs, AHostThatTheSweepsOwnEndHasCutIsNeitherNewlyUnknownNorNewlyCleanThen) {
    for (const std::string kind : {"deadline", "cancelled"}) {
        HostOutcome cut = unreachable_host("a");
        cut.error->kind = kind;
        night({clean("a")});
        const Diff now = of(night({cut}));
        EXPECT_THAT(names(now.newly_unknown), IsEmpty()) << kind;
        EXPECT_EQ(now.not_looked_at, 1u) << kind;
        EXPECT_THAT(names(of(night({clean("a")})).newly_clean), IsEmpty()) << kind;
    }
}

TEST_F(Diffs, OfTheFirstSweepHasEverythingThatIsNotClean) {
    const Diff now = of(night({clean("a"), dirty("b"), unreachable_host("c")}));
    EXPECT_FALSE(now.older);
    EXPECT_THAT(names(now.newly_dirty), ElementsAre("b"));
    EXPECT_THAT(names(now.newly_unknown), ElementsAre("c"));
    EXPECT_THAT(now.hosts_new, IsEmpty());
    EXPECT_THAT(now.gpus_new, IsEmpty());
}

TEST_F(Diffs, ComparesWithTheOneBeforeOfTheSameScope) {
    const SweepId first = night({dirty("a")});
    night({clean("a")}, {"/etc/fleet.yaml", "rack1"});
    const Diff now = of(night({dirty("a")}));
    ASSERT_TRUE(now.older);
    EXPECT_EQ(now.older->id, first);
    EXPECT_THAT(names(now.still_dirty), ElementsAre("a"));
}

TEST_F(Diffs, NamesHostsThatAreGoneAndNew) {
    night({clean("a"), dirty("b")});
    const Diff now = of(night({clean("a"), clean("c"), dirty("d")}));
    EXPECT_THAT(now.hosts_gone, ElementsAre("b"));
    EXPECT_THAT(now.hosts_new, ElementsAre("c", "d"));
    EXPECT_THAT(names(now.newly_dirty), ElementsAre("d"));
    EXPECT_THAT(names(now.newly_clean), IsEmpty());
    EXPECT_THAT(now.gpus_gone, IsEmpty()) << "the host says it all";
    EXPECT_THAT(now.gpus_new, IsEmpty());
}

TEST_F(Diffs, ComparesOnlyCommonHostsOfTwoScopes) {
    const SweepId all = night({dirty("a"), dirty("b")});
    const SweepId some = night({dirty("b"), dirty("c")}, {"/etc/fleet.yaml", "rack1"});
    const Diff now = of(some, all);
    EXPECT_THAT(names(now.still_dirty), ElementsAre("b"));
    EXPECT_THAT(names(now.newly_dirty), IsEmpty());
    EXPECT_EQ(now.not_compared, 2u);
    EXPECT_FALSE(now.compares_hosts);
    EXPECT_NE(diff_json(now).find("\"hosts_gone\":null"), std::string::npos);
}

TEST_F(Diffs, SaysNothingOfGoneHostsWhereOneSweepWasStoppedEarly) {
    night({clean("a"), clean("b")});
    Report cut = report_of({clean("a")});
    cut.result.deadline_passed = true;
    EXPECT_FALSE(of(night_of(cut)).compares_hosts);
}

TEST_F(Diffs, AreMadeFromTheOlderToTheNewerHoweverTheyAreNamed) {
    const SweepId first = night({clean("a")}), second = night({dirty("a")});
    EXPECT_THAT(names(of(first, second).newly_dirty), ElementsAre("a"));
    EXPECT_EQ(diff_json(of(first, second)), diff_json(of(second, first)));
}

TEST_F(Diffs, NameWhoHoldsWhatIsNewlyDirty) {
    night({clean("a")});
    HostOutcome host = dirty("a");
    host.last->gpus[2].holders.front().unit = "vllm.service";
    const Diff now = of(night({host}));
    ASSERT_EQ(now.newly_dirty.size(), 1u);
    const HostChange& change = now.newly_dirty[0];
    ASSERT_EQ(change.gpus.size(), 1u);
    EXPECT_EQ(change.gpus[0].index, 2);
    EXPECT_EQ(change.gpus[0].used, Mebibytes{76'107});
    EXPECT_EQ(change.gpus[0].newly, true);
    ASSERT_EQ(change.holders.size(), 1u);
    EXPECT_EQ(change.holders[0].user, "alice");
    EXPECT_EQ(change.holders[0].pid, 812);
    EXPECT_EQ(change.holders[0].unit, "vllm.service");
    EXPECT_TRUE(change.holders[0].inherited);
    EXPECT_THAT(change.codes, ElementsAre("memory-in-use"));
}

TEST_F(Diffs, TellTheGpuThatIsNewlyDirtyFromThoseThatWere) {
    night({dirty("a")});
    HostOutcome host = dirty("a");
    host.last->gpus[5].verdict = Verdict::dirty;
    const Diff now = of(night({host}));
    ASSERT_EQ(now.still_dirty.size(), 1u);
    ASSERT_EQ(now.still_dirty[0].gpus.size(), 2u);
    EXPECT_EQ(now.still_dirty[0].gpus[0].newly, false);
    EXPECT_EQ(now.still_dirty[0].gpus[1].newly, true);
}

TEST_F(Diffs, AProcessOnSeveralGpusIsOneHolder) {
    night({clean("a")});
    HostOutcome host = dirty("a");
    Holder same = host.last->gpus[2].holders.front();
    same.used = Mebibytes{1000};
    host.last->gpus[3].holders.push_back(same);
    const Diff now = of(night({host}));
    ASSERT_EQ(now.newly_dirty[0].holders.size(), 1u);
    EXPECT_THAT(now.newly_dirty[0].holders[0].gpus, ElementsAre(2, 3));
    EXPECT_EQ(now.newly_dirty[0].holders[0].used, Mebibytes{77'107});
}

TEST_F(Diffs, SeeAGpuThatWasSwappedWhileItsHostWasAway) {
    night({clean("a")});
    night({unreachable_host("a")});
    HostOutcome repaired = clean("a");
    repaired.last->gpus[4].uuid = "GPU-spare";
    const Diff now = of(night({repaired}));
    ASSERT_EQ(now.gpus_swapped.size(), 1u);
    EXPECT_EQ(now.gpus_swapped[0].uuid, "GPU-spare");
    EXPECT_EQ(now.gpus_swapped[0].uuid_before, "GPU-a-4");
    EXPECT_THAT(now.gpus_gone, IsEmpty());
    EXPECT_THAT(now.gpus_new, IsEmpty());
}

TEST_F(Diffs, TakeNoGpuForGoneThatNobodyCouldSee) {
    night({clean("a"), clean("b"), clean("c")});
    HostOutcome cut = clean("b");
    cut.verdict = cut.last->verdict = Verdict::unknown;
    cut.last->gpus.resize(3);
    cut.last->findings.push_back({Severity::unknown, "nvidia-smi-cut", "it did not run to its end", ""});
    HostOutcome missing = clean("c");
    missing.verdict = missing.last->verdict = Verdict::unknown;
    missing.last->gpus.resize(7);
    missing.last->findings.push_back({Severity::unknown, "count-mismatch", "7 GPUs, expected 8", ""});
    const Diff now = of(night({unreachable_host("a"), cut, missing}));
    ASSERT_EQ(now.gpus_gone.size(), 1u);
    EXPECT_EQ(now.gpus_gone[0].before->host, "c");
    EXPECT_EQ(now.gpus_gone[0].uuid, "GPU-c-7");
}

TEST_F(Diffs, ReadAsATranscript) {
    night({clean("gpu01"), clean("gpu02"), clean("gpu03"), dirty("gpu04"), dirty("gpu05"), clean("gpu06"),
           unreachable_host("gpu07"), clean("gpu08")});
    night({clean("gpu01"), clean("gpu02"), clean("gpu03"), dirty("gpu04"), dirty("gpu05"), clean("gpu06"),
           unreachable_host("gpu07"), clean("gpu08")});
    HostOutcome swapped = clean("gpu01");
    swapped.last->gpus[6].uuid = "GPU-spare";
    const SweepId last =
        night({swapped, dirty("gpu02"), sick("gpu03"), clean("gpu04"), dirty("gpu05"),
               unreachable_host("gpu06", "no route to host"), unreachable_host("gpu07"), clean("gpu09")});
    Page page(80, false);
    diff_text(page, of(last));
    EXPECT_EQ(page.take(),
              R"(from sweep 2 (2026-11-29T02:00:00Z, check) to sweep 3 (2026-11-30T02:00:00Z,
check) of /etc/fleet.yaml, all
newly dirty or sick (2)
    gpu02 dirty: GPU 2, 76107 MiB
        pid 812 alice, 3h10m, GPU 2, 76107 MiB: sleep 100000
    gpu03 sick: GPU 3, 0 MiB; GPU 3: gpu-requires-reset: its row shows [GPU
    requires reset]
newly unknown or unreachable (1)
    gpu06 unreachable: connect: no route to host
newly clean (1)
    gpu04, dirty before
still dirty or sick (1)
    gpu05 dirty for 2d00h, since 2026-11-28T02:00:00Z: GPU 2, 76107 MiB
        pid 812 alice, 3h10m, GPU 2, 76107 MiB: sleep 100000
still unknown or unreachable (1)
    gpu07 unreachable for 2d00h, since 2026-11-28T02:00:00Z: connect: connection
    refused
hosts gone: gpu08
hosts new: gpu09
GPU swapped: gpu01 GPU 6 at 00000000:06:00.0: GPU-gpu01-6 is now GPU-spare
(NVIDIA H200)
2 newly dirty or sick, 1 newly unknown or unreachable, 1 newly clean, 1 still
dirty or sick, 1 still unknown or unreachable, 2 still clean, 1 gone, 1 new; 1
GPU gone, swapped, moved or new
)");
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
