#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agentless/remote.hpp"

namespace cleanslate::agentless {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ActScriptText, HasNoOtherShellSyntaxInWhatIsPutIn) {
    EXPECT_THAT(
        lock_script({"a b'$(x)%", Milliseconds(0), Milliseconds(0)}, "n'"),
        StartsWith("nonce=n\nact=take\nwho=a%20b%27%24%28x%29%25\nwait_ms=0\nkeep_ms=1000\nkeeper=\n"));
    EXPECT_THAT(release_script({1, 5}, "n"), HasSubstr("\nkeeper=0:5\n")) << "never init";
    ResetRequest reset{
        {"00000000:06:00.0", "x'; reboot"}, {"a\\x2d@1.service", "-H", "b;c"}, "b'", Milliseconds(5)};
    EXPECT_THAT(reset_script(reset, "n"),
                StartsWith("nonce=n\nboot=b\ntimeout_ms=1000\ngpus='00000000:06:00.0'\n"
                           "daemons='a\\x2d@1.service'\n"));
    ShmFile file;
    file.name = "a '\n*\\";
    ShmFile above;
    above.name = "../x";
    EXPECT_THAT(shm_script({{file, above}, "b"}, "n"),
                StartsWith("nonce=n\nboot=b\nfiles='0:0:0:0:a\\0040\\0047\\0012\\0052\\0134:a\?\?\?\?\?'\n"));
    SurveyRequest survey;
    survey.shm_names = {"a*", "b;c", "", "$(x)", "d?"};
    EXPECT_THAT(survey_script(survey, "n"), HasSubstr("\nshm_names='a* d?'\n"));
}

TEST(LockReportText, IsOneRecord) {
    const auto taken = read_lock("begin n 1\nlock taken 7 70 20\nend n\n", "n");
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->result, LockReport::Result::taken);
    EXPECT_EQ(taken->keeper, (ProcessKey{7, 70}));
    EXPECT_EQ(taken->waited, Milliseconds(20));
    const auto busy = read_lock("begin n 1\nlock busy a%20b 0\nend n\n", "n");
    ASSERT_TRUE(busy.has_value());
    EXPECT_EQ(busy->result, LockReport::Result::busy);
    EXPECT_EQ(busy->holder, "a b");
    const auto none = read_lock("begin n 1\nlock unavailable no%20flock 0\nend n\n", "n");
    ASSERT_TRUE(none.has_value());
    EXPECT_EQ(none->reason, "no flock");
    EXPECT_TRUE(read_lock("begin n 1\nlock taken 7 70 20\n", "n").has_value()) << "it must be given back";
    for (const char* text :
         {"lock busy a 0\n", "end n\n", "lock taken 0 70 0\nend n\n", "lock taken 7 70\nend n\n",
          "lock busy a 0\nlock busy a 0\nend n\n", "lock free a 0\nend n\n", "busy a 0\nend n\n"})
        EXPECT_FALSE(read_lock("begin n 1\n" + std::string(text), "n").has_value()) << text;
}

TEST(ResetReportText, TellsWhatCameAlsoWithoutAnEnd) {
    const std::string text =
        "begin n 1\nunit a 1 0\nunit b 0 -\ngpu 0:1 19 In%20use\ngpu 0:2 - -\nstarted a -\n";
    const auto whole = read_reset(text + "end n\n", "n");
    ASSERT_TRUE(whole && whole->complete && whole->units.size() == 2 && whole->gpus.size() == 2);
    EXPECT_EQ(whole->units[0].stop_status, 0);
    EXPECT_FALSE(whole->units[0].start_status.has_value());
    EXPECT_EQ(whole->gpus[0].status, 19);
    EXPECT_EQ(whole->gpus[0].text, "In use");
    EXPECT_FALSE(whole->gpus[1].status.has_value());
    const auto cut = read_reset(text, "n");
    ASSERT_TRUE(cut.has_value());
    EXPECT_FALSE(cut->complete);
    EXPECT_EQ(cut->gpus.size(), 2u);
    for (const char* bad :
         {"unit a 2 0\n", "unit a 1 x\n", "started x 0\n", "gpu a 0\n", "unit a 1 0\nunit a 1 0\n",
          "gpu a 0 -\ngpu a 0 -\n", "unit a 0 -\nstarted a 0\n", "reply 1\n"})
        EXPECT_FALSE(read_reset("begin n 1\n" + std::string(bad) + "end n\n", "n")->complete) << bad;
}

TEST(ShmReportText, IsNotCompleteAfterACut) {
    const auto whole = read_shm("begin n 1\nfile 1 2 removed\nfile 1 3 in-use\nend n\n", "n");
    ASSERT_TRUE(whole && whole->complete && whole->files.size() == 2);
    EXPECT_EQ(whole->files[1].result, ShmReport::Result::in_use);
    EXPECT_FALSE(read_shm("begin n 1\nfile 1 2 removed\n\ncut\nend n\n", "n")->complete);
    EXPECT_FALSE(read_shm("begin n 1\nfile 1 2 eaten\nend n\n", "n")->complete);
    EXPECT_FALSE(read_shm("begin n 1\nfile 1 2 removed\n", "n")->complete);
}

TEST(RebootReportText, IsStartedOnlyWhereItSaysSo) {
    EXPECT_TRUE(read_reboot("begin n 1\nreboot started -\nend n\n", "n")->started);
    const auto refused = read_reboot("begin n 1\nreboot refused only%20root\nend n\n", "n");
    EXPECT_TRUE(refused->complete);
    EXPECT_FALSE(refused->started);
    EXPECT_EQ(refused->text, "only root");
    for (const char* bad : {"", "reboot maybe -\n", "reboot started -\nreboot started -\n"}) {
        const auto report = read_reboot("begin n 1\n" + std::string(bad) + "end n\n", "n");
        EXPECT_FALSE(report->complete || report->started) << bad;
    }
}

}  // namespace
}  // namespace cleanslate::agentless
