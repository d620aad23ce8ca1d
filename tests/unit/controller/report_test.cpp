#include "controller/report.hpp"

#include <gtest/gtest.h>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

std::size_t at(Verdict verdict) { return static_cast<std::size_t>(verdict); }

TEST(Summary, CountsHostsAndGpusByVerdict) {
    const Summary summary = summarize(report_of(
        {clean_host("a"), clean_host("b"), clean_host("c"), dirty_host("d"), unreachable_host("e")}));
    EXPECT_EQ(summary.verdict, Verdict::unreachable);
    EXPECT_EQ(summary.hosts[at(Verdict::clean)], 3u);
    EXPECT_EQ(summary.hosts[at(Verdict::dirty)], 1u);
    EXPECT_EQ(summary.hosts[at(Verdict::unreachable)], 1u);
    EXPECT_EQ(summary.gpus[at(Verdict::clean)], 31u);
    EXPECT_EQ(summary.gpus[at(Verdict::dirty)], 1u);
}

TEST(Summary, HasNoVerdictWhereNothingWasSurveyed) {
    EXPECT_EQ(summarize(report_of({})).verdict, std::nullopt);
    EXPECT_EQ(summarize(report_of({asked_host("a", 0, "")}, "run")).verdict, std::nullopt);
}

TEST(Summary, OfAnAdHocCommandStillSaysWhoIsUnreachable) {
    const Summary summary = summarize(report_of({asked_host("a", 0, ""), unreachable_host("b")}, "run"));
    EXPECT_EQ(summary.verdict, Verdict::unreachable);
    EXPECT_EQ(summary.asked[static_cast<std::size_t>(Asked::ok)], 1u);
    EXPECT_EQ(summary.asked[static_cast<std::size_t>(Asked::not_asked)], 1u);
}

TEST(Findings, OfTheSurveyAndOfTheCourseAreListedOnceEach) {
    HostOutcome host = clean_host("a");
    host.last->findings = {{Severity::note, "one", "text", ""}};
    host.findings = {{Severity::note, "one", "text", ""}, {Severity::dirty, "respawned", "text", ""}};
    const auto findings = findings_of(host);
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].code, "one");
    EXPECT_EQ(findings[1].code, "respawned");
}

TEST(ShownCommand, MasksSecretsUnlessRawCommandsWereAskedFor) {
    EXPECT_EQ(shown_command("serve --api-key geheim --port 1", false).find("geheim"), std::string::npos);
    EXPECT_EQ(shown_command("serve --api-key geheim", true), "serve --api-key geheim");
    // A secret may have blanks around it and in it, and what comes after it is shown.
    EXPECT_EQ(shown_command("curl -H 'Authorization: Bearer geheim' host", false),
              "curl -H 'Authorization: Bearer ***' host");
    EXPECT_EQ(shown_command("serve --password 'ge heim' --port 1", false), "serve --password '***' --port 1");
    EXPECT_EQ(shown_command("HF_TOKEN=geheim rm -rf /data", false), "HF_TOKEN=*** rm -rf /data");
    EXPECT_EQ(shown_command("", false), "");
    EXPECT_EQ(shown_command("a\nb", true), "a\\x0Ab");
}

TEST(Plan, IsThereWhereASignalOrACommandIsPlanned) {
    EXPECT_FALSE(has_plan(dirty_host("a")));
    EXPECT_TRUE(has_plan(planned_host("a")));
    HostOutcome host = clean_host("a");
    host.commands.emplace_back().planned = true;
    EXPECT_TRUE(has_plan(host));
    host.commands.front().planned = false;
    EXPECT_FALSE(has_plan(host));
}

}  // namespace
}  // namespace cleanslate::controller::testing
