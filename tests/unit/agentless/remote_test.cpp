#include "agentless/remote.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cleanslate::agentless {
namespace {

using ::testing::HasSubstr;

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

TEST(SurveyScriptText, AsksForAllOptionalFieldsAndLearnsUnlessItIsToldWhich) {
    SurveyRequest request;
    const auto learning = survey_script(request, "abc");
    EXPECT_THAT(learning, HasSubstr("\noptional=1\noptional_columns=gpu_recovery_action,"));
    EXPECT_THAT(learning, HasSubstr("\nlearn=1\n"));
    EXPECT_THAT(learning, HasSubstr("clocks_event_reasons.hw_slowdown:clocks_throttle_reasons.hw_slowdown"));
    request.optional_evidence = false;
    EXPECT_THAT(survey_script(request, "abc"), HasSubstr("\noptional=0\n"));
}

TEST(SurveyScriptText, AsksForNoFieldThatAHostMadeUp) {
    SurveyRequest request;
    request.optional_fields = {"mig.mode.current", "uuid", "name; reboot",
                               "mig.mode.current", "",     "clocks_throttle_reasons.hw_slowdown",
                               "x\nbudget=1"};
    EXPECT_THAT(survey_script(request, "abc"),
                HasSubstr("\noptional_columns=mig.mode.current,clocks_throttle_reasons.hw_slowdown\n"));
    EXPECT_THAT(survey_script(request, "abc"), HasSubstr("\nlearn=0\n"));
    request.optional_fields->clear();
    EXPECT_THAT(survey_script(request, "abc"), HasSubstr("\noptional_columns=\n"));
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

}  // namespace
}  // namespace cleanslate::agentless
