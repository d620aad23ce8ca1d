#include "agentless/remote.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agentless/records.hpp"

namespace cleanslate::agentless {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;

const std::string all_done = "done queries\ndone files\ndone maps\ndone argv\ndone driver\ndone exe\n";

std::string proc(int pid, int parent, const std::string& comm = "x", const std::string& uid = "0") {
    return fmt::format("proc {0} {1} {2}\n", pid, uid,
                       escape(fmt::format("{} ({}) S {} 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {}00 0 0", pid,
                                          comm, parent, pid)));
}

std::string survey(const std::string& records) {
    return "\nbegin n 1\nmeta uid 0\nmeta shell 20\n" + records + "end n\n";
}

Evidence read(const std::string& records) {
    auto evidence = read_survey(survey(records), "n");
    EXPECT_TRUE(evidence.has_value());
    return evidence ? *evidence : Evidence{};
}

const std::string core_row = "gpu " +
                             escape(
                                 "0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, 14 MiB, "
                                 "143771 MiB, 30, P0, NVIDIA H200") +
                             "\n";

TEST(FreshNonce, Is128RandomBitsInHex) {
    const auto nonce = fresh_nonce();
    EXPECT_EQ(nonce.size(), 32u);
    EXPECT_EQ(nonce.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_NE(nonce, fresh_nonce());
}

TEST(SurveyScriptText, CarriesNumbersAndTheNonceInFrontOfFunctions) {
    SurveyRequest request;
    request.budget = Milliseconds(1'500);
    request.all_processes = true;
    const auto script = survey_script(request, "abc");
    EXPECT_THAT(script, ::testing::StartsWith(
                            "nonce=abc\nbudget=2\nslack=8\nall_processes=1\ngpu_columns=index,uuid,"));
    EXPECT_TRUE(script.ends_with("\nmain\n"));
}

TEST(SurveyScriptText, HasNoOtherShellSyntaxInWhatIsPutIn) {
    SignalRequest request;
    request.signal = "TERM; reboot";
    request.boot_id = "$(reboot)`x`";
    request.targets = {{5, 6}, {-1, 9}, {0, 3}, {7, 18'446'744'073'709'551'615U}};
    const auto script = signal_script(request, "a'b\nc");
    EXPECT_THAT(script, ::testing::StartsWith("nonce=abc\nsignal=TERMreboot\nwait_ms=10000\nboot=rebootx\n"
                                              "targets='5:6 7:18446744073709551615'\n"));
}

TEST(Survey, OfAnIdleHostIsReadWhole) {
    const auto evidence =
        read("meta boot 1-2\nmeta ticks 100\nmeta uptime 5000.25\nnodes\nnode 0\ndrivers\ntool gpu 0\n" +
             core_row + "tool app 0\n" + proc(1, 0) + proc(10, 1, "sshd") + proc(20, 10, "sh") +
             "mount 1 mnt:[1]\nmount 20 mnt:[1]\nmount 10 mnt:[2]\nexe 20 /bin/dash%20(deleted)\nargv 20 "
             "sh%00-s\n" +
             "cgroup 20 0::/a\nexefile 20 0 -rwxr-xr-x\nblind 0\ndriver 0000:00:06.0\ninfo "
             "Device%20Minor:%20%09%203\n"
             "info GPU%20UUID:%20GPU-1\ndriver version\ninfo NVRM%20version:%20x%20580.1.2\nuser 0 root\n" +
             all_done);
    EXPECT_TRUE(evidence.complete);
    EXPECT_TRUE(evidence.root);
    EXPECT_TRUE(evidence.holders_visible);
    EXPECT_EQ(evidence.boot_id, "1-2");
    ASSERT_EQ(evidence.gpus.size(), 1u);
    EXPECT_EQ(evidence.gpus[0].used, Mebibytes{14});
    EXPECT_EQ(evidence.gpu_query.exit_status, 0);
    EXPECT_EQ(evidence.device_minors, std::vector{0});
    EXPECT_EQ(evidence.driver_version, "580.1.2");
    ASSERT_TRUE(evidence.driver_gpus && evidence.driver_gpus->size() == 1);
    EXPECT_EQ(evidence.driver_gpus->front().minor, 3);
    EXPECT_EQ(evidence.driver_gpus->front().uuid, "GPU-1");
    EXPECT_THAT(evidence.session_ancestors, ElementsAre(20, 10, 1));
    const auto* shell = evidence.find(20);
    ASSERT_NE(shell, nullptr);
    EXPECT_EQ(shell->exe, "/bin/dash");
    EXPECT_TRUE(shell->exe_deleted);
    EXPECT_FALSE(shell->exe_writable_by_others);
    EXPECT_EQ(shell->exe_owner, 0u);
    EXPECT_TRUE(shell->host_mount_ns);
    EXPECT_FALSE(evidence.find(10)->host_mount_ns);
    EXPECT_EQ(shell->user, "root");
    EXPECT_EQ(shell->age_s, 4980u);
    EXPECT_THAT(shell->argv, Optional(ElementsAre("sh", "-s")));
    EXPECT_EQ(shell->cgroup, "/a");
}

TEST(Survey, LeavesAbsentWhatWasNotSaid) {
    const auto evidence = read(proc(20, 0, "sh", "-") + all_done);
    EXPECT_TRUE(evidence.complete);
    EXPECT_FALSE(evidence.driver_gpus.has_value());
    EXPECT_FALSE(evidence.device_minors.has_value());
    EXPECT_FALSE(evidence.gpu_query.exit_status.has_value());
    EXPECT_FALSE(evidence.clock_ticks.has_value());
    const auto& shell = evidence.processes.at(0);
    EXPECT_FALSE(shell.uid || shell.exe || shell.argv || shell.cgroup || shell.age_s || shell.exe_owner);
    EXPECT_TRUE(shell.exe_writable_by_others);
    EXPECT_FALSE(shell.host_mount_ns);
}

TEST(Survey, WithoutEndIsNoEvidence) {
    const auto whole = survey(core_row + "tool gpu 0\n" + proc(20, 0) + all_done);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto evidence = read_survey(whole.substr(0, size), "n");
        if (!evidence) continue;
        EXPECT_FALSE(evidence->complete) << size;
        EXPECT_THAT(evidence->gpus, IsEmpty());
        EXPECT_NE(evidence->incomplete_reason, "");
    }
    EXPECT_TRUE(read_survey(whole, "n")->complete);
}

TEST(Survey, OfAnotherNonceIsNone) {
    const auto other = read_survey(survey(all_done), "m");
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(other.error().kind, "protocol");
}

TEST(Survey, IsRefusedWholeWhereOneRecordIsNotAsItShouldBe) {
    const auto known = proc(20, 0);
    for (const auto* record : {"novel 1",
                               "gpu",
                               "gpu a b",
                               "tool gpu",
                               "tool gpu x",
                               "tool fan 0",
                               "tool gpu -1",
                               "open 20",
                               "open 20 x",
                               "open 21 0",
                               "open 0 0",
                               "open -1 0",
                               "mapped 20 -",
                               "argv 21 x",
                               "argv 20 x y",
                               "exe 21 /x",
                               "unreadable 21",
                               "blind x",
                               "cgroup 21 0::/",
                               "exefile 20 x -rwxr-xr-x",
                               "exefile 20 0 rwx",
                               "info x",
                               "driver x",
                               "node 0",
                               "meta novel 1",
                               "meta uid x",
                               "meta ticks 0",
                               "meta shell 0",
                               "done novel",
                               "reading 5 maps",
                               "user x y",
                               "stuck x",
                               "proc 21 0 21%20(x)%20S",
                               "proc 21 x 21",
                               "mount 21 mnt:[1]"}) {
        const auto evidence = read_survey(survey(known + record + "\n" + all_done), "n");
        ASSERT_TRUE(evidence.has_value());
        EXPECT_FALSE(evidence->complete) << record;
        EXPECT_THAT(evidence->processes, IsEmpty()) << record;
        EXPECT_THAT(evidence->incomplete_reason, HasSubstr("not as the protocol has it")) << record;
    }
}

TEST(Survey, IsRefusedWholeWhereSomethingIsSaidTwice) {
    for (const std::string& record :
         {proc(20, 0), std::string("tool gpu 0\n"), std::string("done maps\n"), std::string("exe 20 /x\n"),
          std::string("argv 20 x\n"), std::string("mount 20 m\n")}) {
        const auto once = record.starts_with("proc") ? record : proc(20, 0) + record;
        EXPECT_FALSE(read_survey(survey(once + record), "n")->complete) << record;
    }
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

TEST(Survey, FollowsNoCircleOfParents) {
    const auto evidence = read(proc(20, 21) + proc(21, 20) + all_done);
    EXPECT_THAT(evidence.session_ancestors, ElementsAre(20, 21));
}

TEST(SignalReportText, GivesEveryReplyInTheOrderOfTheSignals) {
    const auto report = read_signal(
        "motd\nbegin n 1\nsent 5 50\nreply 6 60 changed - S 1\nsent 7 70\nreply 8 80 not-permitted - S "
        "1\nreply 1 1 refused - - -\n"
        "reply 7 70 zombie 60 Z 4\nreply 5 50 ended 130 - -\nend n\n",
        "n");
    ASSERT_TRUE(report && report->complete);
    ASSERT_EQ(report->replies.size(), 5u);
    using enum SignalReply::Result;
    EXPECT_EQ(report->replies[0].key, (ProcessKey{5, 50}));
    EXPECT_EQ(report->replies[0].result, ended);
    EXPECT_EQ(report->replies[0].took, Milliseconds(130));
    EXPECT_TRUE(report->replies[0].sent);
    EXPECT_EQ(report->replies[1].result, changed);
    EXPECT_FALSE(report->replies[1].sent);
    EXPECT_EQ(report->replies[2].result, zombie);
    EXPECT_EQ(report->replies[2].parent, 4);
    EXPECT_EQ(report->replies[3].result, not_permitted);
    EXPECT_EQ(report->replies[4].result, not_permitted);
}

TEST(SignalReportText, NeverLosesASignalThatWentOut) {
    const std::string whole =
        "begin n 1\nsent 5 50\nsent 7 70\nreply 5 50 ended 130 - -\nreply 7 70 alive - D 1\nend n\n";
    const auto after_both = whole.find("reply");
    for (std::size_t size = after_both; size < whole.size(); ++size) {
        const auto report = read_signal(whole.substr(0, size), "n");
        ASSERT_TRUE(report.has_value());
        EXPECT_FALSE(report->complete);
        ASSERT_EQ(report->replies.size(), 2u) << size;
        EXPECT_TRUE(report->replies[0].sent && report->replies[1].sent);
    }
    EXPECT_EQ(read_signal(whole, "n")->replies[1].state, 'D');
}

TEST(SignalReportText, StopsAtTheFirstRecordThatIsNotAsItShouldBe) {
    for (const auto* record :
         {"sent 5", "sent 5 50", "sent 0 1", "sent x 1", "reply 5 50 dead - - -", "reply 5 50 ended x - -",
          "reply 5 50 ended 1 SS 1", "reply 5 50 ended 1 - ", "novel", "reply 5 50 ended"}) {
        const auto report =
            read_signal("begin n 1\nsent 5 50\n" + std::string(record) + "\nsent 9 90\nend n\n", "n");
        ASSERT_TRUE(report.has_value());
        EXPECT_FALSE(report->complete) << record;
        ASSERT_EQ(report->replies.size(), 1u) << record;
        EXPECT_TRUE(report->replies[0].sent);
    }
    EXPECT_FALSE(read_signal("sent 5 50\n", "n").has_value());
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
