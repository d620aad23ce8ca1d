// What is only known when all records are there.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/agentless/survey_text.hpp"

namespace cleanslate::agentless {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;

const std::string gpu_key = "0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0";

TEST(Survey, PutsOptionalCellsIntoTheRowsOfTheirGpus) {
    const auto evidence = read(
        core_row + "took gpu 3\ntool gpu 0\ntook app 2\ntool app 0\nopt " + escape(gpu_key + ", Reset, Yes") +
        "\ntook opt 250\nfields gpu_recovery_action,remapped_rows.pending\ntool opt 0\n"
        "unknown-field fabric.state\nlist " +
        escape("GPU 0: NVIDIA H200 (UUID: GPU-00000000-1111-2222-3333-444444444444)") +
        "\ntook list 4\ntool list 0\n" + all_done);
    ASSERT_EQ(evidence.gpus.size(), 1u);
    EXPECT_THAT(evidence.gpus[0].optional, ElementsAre(OptionalCell{"gpu_recovery_action", "Reset"},
                                                       OptionalCell{"remapped_rows.pending", "Yes"}));
    EXPECT_FALSE(evidence.gpus[0].troubles.empty());
    EXPECT_THAT(evidence.optional_fields, ElementsAre("gpu_recovery_action", "remapped_rows.pending"));
    EXPECT_THAT(evidence.unknown_fields, ElementsAre("fabric.state"));
    EXPECT_THAT(evidence.optional_problems, IsEmpty());
    EXPECT_EQ(evidence.gpu_query.took, Milliseconds(30));
    EXPECT_EQ(evidence.optional_query.took, Milliseconds(2'500));
    ASSERT_TRUE(evidence.listed.has_value());
    EXPECT_EQ(evidence.listed->at(0).uuid, "GPU-00000000-1111-2222-3333-444444444444");
}

TEST(Survey, TakesAnOptionalRowOfNoKnownGpuForAProblemAndForNothingElse) {
    const auto evidence =
        read(core_row + "tool gpu 0\ntool app 0\nopt " +
             escape("1, GPU-99999999-1111-2222-3333-444444444444, 00000000:00:07.0, Reset") +
             "\nfields gpu_recovery_action\ntool opt 0\n" + all_done);
    EXPECT_THAT(evidence.optional_problems, Not(IsEmpty()));
    EXPECT_TRUE(evidence.gpus.at(0).optional.empty());
    EXPECT_EQ(evidence.gpus.size(), 1u);
}

TEST(Survey, SaysThatOptionalEvidenceWasNotAskedForOnlyWhereTheQueriesCameToTheirEnd) {
    const auto plain = read("tool gpu 0\ntool app 0\n" + all_done);
    EXPECT_TRUE(plain.optional_query.skipped && plain.list_query.skipped);
    EXPECT_FALSE(plain.gpu_query.skipped || plain.app_query.skipped);
    const auto late = read("tool gpu 0\ntool app 0\ntool opt skipped\ntool list skipped\n" + all_done);
    EXPECT_TRUE(late.optional_query.skipped && late.list_query.skipped);
    const auto cut = read("tool gpu 0\ntool app 0\nopt x\ncut\n");
    EXPECT_FALSE(cut.optional_query.skipped || cut.list_query.skipped);
    EXPECT_FALSE(cut.optional_query.exit_status.has_value());
    EXPECT_FALSE(plain.listed || late.listed || cut.listed);
}

TEST(Survey, LetsNoOptionalQuestionThatTimedOutTouchTheCore) {
    const auto evidence =
        read(core_row + "tool gpu 0\ntool app 0\nopt " + escape(gpu_key + ", Reset") +
             "\nfields gpu_recovery_action\ntool opt timeout\ntool list skipped\nstuck 812\n" +
             proc(812, 1, "nvidia-smi") + all_done);
    EXPECT_FALSE(evidence.gpu_query.timed_out || evidence.app_query.timed_out);
    EXPECT_TRUE(evidence.optional_query.timed_out);
    EXPECT_THAT(evidence.stuck, ElementsAre(812));
    EXPECT_FALSE(evidence.gpus.at(0).troubles.empty()) << "a row that came counts";
    EXPECT_THAT(evidence.optional_fields, IsEmpty()) << "nobody knows whether it knows them";
}

TEST(Survey, TakesHalfAListForNone) {
    const auto line =
        "list " + escape("GPU 0: NVIDIA H200 (UUID: GPU-00000000-1111-2222-3333-444444444444)") + "\n";
    EXPECT_TRUE(read(line + "tool list 0\n" + all_done).listed.has_value());
    EXPECT_TRUE(read("tool list 0\n" + all_done).listed.has_value());
    EXPECT_TRUE(read(line + "tool list 15\n" + all_done).listed.has_value());
    EXPECT_FALSE(read("list No%20devices%20were%20found\ntool list 6\n" + all_done).listed.has_value());
    EXPECT_FALSE(read(line + "tool list timeout\n" + all_done).listed.has_value());
    EXPECT_FALSE(read(line + "cut\n").listed.has_value());
}

TEST(Survey, ReadsGpusOnPciAndMigCapabilities) {
    const auto evidence =
        read("pci\npcigpu 0000:0B:00.0 nvidia\npcigpu 0000:0c:00.0 -\ncap 1 9 - 147\ncap 1 9 0 148\n" +
             proc(20, 0) + "open 20 1,cap148,c\n" + all_done);
    ASSERT_TRUE(evidence.pci_gpus && evidence.pci_gpus->size() == 2);
    EXPECT_EQ(evidence.pci_gpus->at(0).bus_id, "00000000:0b:00.0");
    EXPECT_EQ(evidence.pci_gpus->at(0).driver, "nvidia");
    EXPECT_EQ(evidence.pci_gpus->at(1).driver, "");
    ASSERT_EQ(evidence.mig_caps.size(), 2u);
    EXPECT_FALSE(evidence.mig_caps[0].compute_instance.has_value());
    EXPECT_EQ(evidence.mig_caps[1].compute_instance, 0);
    EXPECT_EQ(evidence.mig_caps[1].cap_minor, 148);
    EXPECT_THAT(evidence.find(20)->open_caps, ElementsAre(148));
    EXPECT_TRUE(evidence.find(20)->opens_control);
    EXPECT_FALSE(read(all_done).pci_gpus.has_value());
    EXPECT_TRUE(read("pci\n" + all_done).pci_gpus->empty());
    for (const auto* twice :
         {"pcigpu 0000:0b:00.0 nvidia\npcigpu 00000000:0B:00.0 nvidia\n", "pcigpu x nvidia\n"})
        EXPECT_FALSE(read_survey(survey(std::string("pci\n") + twice), "n")->complete) << twice;
}

TEST(Survey, NamesAWedgedProcessAndWhoHangsThere) {
    const auto evidence =
        read(proc(20, 0) + proc(812, 1) + proc(31, 1, "cat") + "wedged 812 cmdline 31\nblind 1\n" + all_done);
    ASSERT_EQ(evidence.stuck_reads.size(), 1u);
    EXPECT_EQ(evidence.stuck_reads[0].pid, 812);
    EXPECT_EQ(evidence.stuck_reads[0].file, "cmdline");
    EXPECT_EQ(evidence.stuck_reads[0].reader, 31);
    EXPECT_TRUE(evidence.find(812)->wedged);
    EXPECT_FALSE(evidence.find(812)->maps_readable);
    EXPECT_TRUE(evidence.find(812)->fds_readable);
    EXPECT_FALSE(evidence.find(20)->wedged);
    EXPECT_TRUE(evidence.find(20)->maps_readable);
    EXPECT_FALSE(evidence.holders_visible);
    // Even one that a script would forget to count: nobody has seen its maps.
    EXPECT_FALSE(read(proc(812, 1) + "wedged 812 maps 31\nblind 0\n" + all_done).holders_visible);
}

TEST(Survey, OfADriverThatHangsSaysSoAndWhoIsStuck) {
    const auto stuck = read("stuck 812\n" + proc(812, 1, "nvidia-smi") + all_done);
    EXPECT_THAT(stuck.stuck, ElementsAre(812));
    EXPECT_TRUE(stuck.gpu_query.timed_out);
    const auto late = read("tool gpu timeout\n" + all_done);
    EXPECT_TRUE(late.gpu_query.timed_out);
    EXPECT_FALSE(late.gpu_query.exit_status.has_value());
    const auto apps = read("tool gpu 0\n" + core_row + "tool app timeout\nstuck 812\n" + all_done);
    EXPECT_FALSE(apps.gpu_query.timed_out);
    EXPECT_TRUE(apps.app_query.timed_out);
    EXPECT_TRUE(read("tool gpu missing\n" + all_done).gpu_query.missing);
}

TEST(Survey, ThatWasCutNamesWhatIsMissingAndSeesNoHolders) {
    const auto evidence =
        read("done queries\n" + proc(20, 0) + "done files\nmapped 2\ncut\nreading 812 maps\n");
    EXPECT_TRUE(evidence.complete);
    EXPECT_FALSE(evidence.holders_visible);
    EXPECT_THAT(evidence.cuts, ElementsAre("maps of 812", "maps", "argv", "driver", "exe"));
    ASSERT_EQ(evidence.stuck_reads.size(), 1u);
    EXPECT_EQ(evidence.stuck_reads[0].pid, 812);
    EXPECT_EQ(evidence.stuck_reads[0].reader, 0);
    EXPECT_FALSE(evidence.find(20)->maps_readable);
}

TEST(Survey, ThatEndsEarlyWithoutACutSeesNoHoldersEither) {
    const auto evidence = read("done queries\n");
    EXPECT_FALSE(evidence.holders_visible);
    EXPECT_THAT(evidence.cuts, Not(IsEmpty()));
}

TEST(Survey, SeesHoldersOnlyWhereEveryProcessCouldBeRead) {
    EXPECT_TRUE(read("blind 0\n" + all_done).holders_visible);
    EXPECT_FALSE(read("blind 1\n" + all_done).holders_visible);
    EXPECT_FALSE(read("meta hidden\n" + all_done).holders_visible);
    EXPECT_FALSE(read("meta foreign-proc\n" + all_done).holders_visible);
    const auto one = read(proc(20, 0) + proc(21, 20) + "unreadable 21\nblind 1\n" + all_done);
    EXPECT_TRUE(one.find(20)->fds_readable && one.find(20)->maps_readable);
    EXPECT_FALSE(one.find(21)->fds_readable || one.find(21)->maps_readable);
}

TEST(Survey, MarksACommandLineThatWasCut) {
    const auto evidence = read(proc(20, 0) + "argv 20 sh%00abc cut\n" + all_done);
    EXPECT_THAT(evidence.find(20)->argv, Optional(ElementsAre("sh", "abc...")));
}

TEST(Survey, ThatWasCutClaimsOfNoGpuThatTheDriverLacksIt) {
    const std::string begun = "drivers\npci\npcigpu 0000:00:06.0 nvidia\ndone queries\ndone files\n";
    const auto cut = read(begun + "driver 0000:00:06.0\ncut\n");
    EXPECT_FALSE(cut.driver_gpus.has_value());
    EXPECT_TRUE(cut.pci_gpus.has_value());
    EXPECT_TRUE(read(begun + "done maps\ndone argv\ndone driver\ndone exe\n").driver_gpus.has_value());
}

TEST(Survey, KnowsTheGpusThatTheDriverIsToldToLeaveAlone) {
    const auto seen = read(
        "drivers\ndriver 0000:00:06.0\ninfo GPU%20Excluded:%09%20No\ndriver 0000:00:07.0\n"
        "info GPU%20Excluded:%09%20Yes\n" +
        all_done);
    ASSERT_EQ(seen.driver_gpus->size(), 2u);
    EXPECT_FALSE(seen.driver_gpus->front().excluded);
    EXPECT_TRUE(seen.driver_gpus->back().excluded);
}

TEST(Survey, ThatWasCutNamesTheNvidiaSmiThatItCouldNotEnd) {
    const auto cut = read("cut\nstuck 77\n");
    EXPECT_THAT(cut.stuck, ElementsAre(77));
    EXPECT_TRUE(cut.gpu_query.timed_out);
    EXPECT_THAT(read("stuck 77\ncut\nstuck 77\n").stuck, ElementsAre(77));
}

TEST(Survey, FollowsNoCircleOfParents) {
    const auto evidence = read(proc(20, 21) + proc(21, 20) + all_done);
    EXPECT_THAT(evidence.session_ancestors, ElementsAre(20, 21));
}

TEST(ReadSurvey, TakesNoHeaderThatNamesOtherColumnsThanWereAskedFor) {
    const auto row = [](const std::string& text) { return "gpu " + escape(text) + "\n"; };
    const auto lying =
        read(row("index, memory.used [MiB]") + row("0, 0 MiB") + "tool gpu 0\ntool app 0\n" + all_done);
    ASSERT_FALSE(lying.messages.empty());
    EXPECT_EQ(lying.messages.back().code, "columns-unknown");
    EXPECT_EQ(lying.messages.back().trouble, Trouble::unreadable);
    const auto honest = read(core_row + "tool gpu 0\ntool app 0\n" + all_done);
    EXPECT_TRUE(honest.messages.empty());
}

}  // namespace
}  // namespace cleanslate::agentless
