#include "controller/merge_reports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/json_report.hpp"
#include "controller/report_reader.hpp"
#include "golden_report.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string json_of(const Report& report) {
    std::string text;
    write_json(report, false, [&](std::string_view piece) { text += piece; });
    return text;
}

Report merged(std::vector<NamedReport> reports) {
    auto all = merge_reports(std::move(reports));
    EXPECT_TRUE(all) << all.error().message;
    return all ? std::move(*all) : Report();
}

std::string refusal(std::vector<NamedReport> reports) {
    const auto all = merge_reports(std::move(reports));
    if (all) return "merged";
    EXPECT_EQ(all.error().kind, "usage");
    EXPECT_FALSE(all.error().remedy.empty());
    return all.error().message;
}

TEST(MergeReports, OfOneIsThatOne) {
    const Report report = golden_report();
    Report again = merged({{"a.json", report}});
    again.exit_status = exit_status_of_read(again);
    EXPECT_EQ(json_of(again), json_of(report));
}

TEST(MergeReports, KeepsHostsInTheOrderOfTheFiles) {
    const Report all = merged({{"b", report_of({clean_host("gpu03"), dirty_host("gpu01")})},
                               {"empty", report_of({})},
                               {"a", report_of({clean_host("gpu02")})}});
    std::vector<std::string> names;
    for (const HostOutcome& host : all.result.hosts) names.push_back(host.name);
    EXPECT_THAT(names, ElementsAre("gpu03", "gpu01", "gpu02"));
}

TEST(MergeReports, LastsFromTheFirstBeginningToTheLastEnd) {
    Report early = report_of({}), late = report_of({});
    early.started = "2026-11-29T23:59:50Z";
    early.took = Milliseconds{60'500};
    late.started = "2026-11-30T00:00:10Z";
    late.took = Milliseconds{1'000};
    Report all = merged({{"late", late}, {"early", early}});
    EXPECT_EQ(all.started, "2026-11-29T23:59:50Z");
    EXPECT_EQ(all.took, Milliseconds{60'500});
    late.took = Milliseconds{50'250};
    all = merged({{"late", late}, {"early", early}});
    EXPECT_EQ(all.took, Milliseconds{70'250});
}

TEST(MergeReports, SaysOnceWhatSeveralSay) {
    Report one = report_of({}, "clear"), two = report_of({}, "clear");
    one.inventory = two.inventory = "fleet.yaml";
    one.limit = "rack1";
    two.limit = "rack2";
    one.result.notes = {"a", "b"};
    two.result.notes = {"b", "c"};
    Report all = merged({{"1", one}, {"2", two}});
    EXPECT_EQ(all.playbook, "clear");
    EXPECT_EQ(all.inventory, "fleet.yaml");
    EXPECT_EQ(all.limit, "rack1,rack2");
    EXPECT_THAT(all.result.notes, ElementsAre("a", "b", "c"));
    two.limit.clear();
    EXPECT_EQ(merged({{"1", one}, {"2", two}}).limit, "") << "one of them had no limit";
}

TEST(MergeReports, WasStoppedByWhatStoppedAnyOfThem) {
    Report done = report_of({clean_host("gpu01")}), stopped = report_of({clean_host("gpu02")});
    stopped.result.failure_limit_reached = true;
    EXPECT_EQ(exit_status_of_read(merged({{"1", done}, {"2", stopped}})), 4);
    Report failed = report_of({clean_host("gpu03")});
    failed.result.audit_failed = true;
    failed.result.audit_error = "disk full";
    const Report all = merged({{"1", done}, {"2", stopped}, {"3", failed}});
    EXPECT_EQ(exit_status_of_read(all), 5);
    EXPECT_EQ(all.result.audit_error, "disk full");
}

TEST(MergeReports, EndsAsTheWorstOfItsHostsAndNotOfWhatTheyWereSaidToBe) {
    Report good = report_of({clean_host("gpu01")}), bad = report_of({dirty_host("gpu02")});
    bad.exit_status = 0;
    EXPECT_EQ(exit_status_of_read(merged({{"1", good}, {"2", bad}})), 1);
    bad.result.hosts.push_back(unreachable_host("gpu03"));
    EXPECT_EQ(exit_status_of_read(merged({{"1", good}, {"2", bad}})), 3);
    EXPECT_EQ(exit_status_of_read(merged({{"1", good}})), 0);
    EXPECT_EQ(exit_status_of_read(merged({{"1", report_of({})}})), 3) << "no host proves nothing";
}

TEST(MergeReports, KeepsWhatOnlyTheWriterKnew) {
    Report good = report_of({clean_host("gpu01")}), other = report_of({clean_host("gpu02")});
    const auto status_beside = [&](int status) {
        other.exit_status = status;
        return exit_status_of_read(merged({{"1", good}, {"2", other}}));
    };
    EXPECT_EQ(status_beside(5), 5) << "something could not be written";
    EXPECT_EQ(status_beside(143), 143);
    EXPECT_EQ(status_beside(130), 130);
    EXPECT_EQ(status_beside(3), 0) << "its hosts are clean";
    good.exit_status = 130;
    EXPECT_EQ(status_beside(143), 130);
    EXPECT_EQ(status_beside(5), 5);
}

TEST(MergeReports, RefusesAHostThatStandsTwice) {
    EXPECT_EQ(refusal({{"rack1.json", report_of({clean_host("gpu01"), clean_host("gpu02")})},
                       {"rack2.json", report_of({clean_host("gpu03"), dirty_host("gpu02")})}}),
              "gpu02 stands in rack1.json and in rack2.json");
}

TEST(MergeReports, RefusesSeveralCommandsAndDryRunsBesideRealOnes) {
    EXPECT_EQ(refusal({{"a.json", report_of({}, "check")}, {"b.json", report_of({}, "clear")}}),
              "a.json is of check and b.json is of clear: they are not shards of one sweep");
    Report dry = report_of({}, "clear");
    dry.dry_run = true;
    EXPECT_EQ(refusal({{"a.json", dry}, {"b.json", report_of({}, "clear")}}),
              "a.json is a dry run and b.json is none: they are not shards of one sweep");
    EXPECT_EQ(refusal({{"a.json", dry}, {"b.json", dry}}), "merged");
}

TEST(MergeReports, RefusesAReportThatAFailedShardHasLeftFromAnotherDay) {
    Report old = report_of({clean_host("gpu01")}), today = report_of({clean_host("gpu02")});
    old.started = "2026-11-28T11:59:59Z";
    EXPECT_THAT(
        refusal({{"a.json", old}, {"b.json", today}}),
        HasSubstr(
            "a.json was begun at 2026-11-28T11:59:59Z and b.json at 2026-11-29T12:00:00Z, 1d00h later"));
    EXPECT_THAT(refusal({{"b.json", today}, {"a.json", old}}), HasSubstr("not shards of one sweep"));
    old.started = "2026-11-28T12:00:00Z";
    EXPECT_EQ(refusal({{"a.json", old}, {"b.json", today}}), "merged");
}

TEST(MergeReports, TakesThoseThatBeganTogetherAsItIsTold) {
    std::vector<NamedReport> reports;
    for (const auto* time : {"12:00:00", "13:00:00", "11:00:00"}) {
        reports.push_back({std::string(time) + ".json", report_of({clean_host(time)})});
        reports.back().report.started = "2026-11-29T" + std::string(time) + "Z";
    }
    EXPECT_TRUE(merge_reports(reports, Milliseconds(2 * 3'600'000)));
    EXPECT_FALSE(merge_reports(reports, Milliseconds(2 * 3'600'000 - 1)))
        << "the first and the last, whichever stands first";
}

TEST(MergeReports, SaysManyNotesOnceInBoundedTime) {
    Report a = report_of({}), b = report_of({});
    for (int i = 0; i < 100'000; ++i) a.result.notes.push_back(std::to_string(i));
    b.result.notes = a.result.notes;
    EXPECT_EQ(merged({{"a", a}, {"b", b}}).result.notes, a.result.notes);
}

TEST(MergeReports, HasNoPortForTheHostsThatHadNone) {
    Report local = report_of({clean_host("here")});
    local.local = true;
    Report all = merged({{"1", local}, {"2", report_of({clean_host("gpu01")})}});
    EXPECT_FALSE(all.local);
    const std::string json = json_of(all);
    EXPECT_THAT(json, HasSubstr("\"name\":\"here\",\"address\":\"127.0.1.1\",\"port\":null"));
    EXPECT_THAT(json, HasSubstr("\"name\":\"gpu01\",\"address\":\"127.0.1.1\",\"port\":22"));
    EXPECT_EQ(json_of(read_report(json, "all.json").value()), json);
    local.result.hosts[0].name = "there";
    Report other = local;
    other.result.hosts[0].name = "elsewhere";
    EXPECT_TRUE(merged({{"1", local}, {"2", other}}).local);
}

}  // namespace
}  // namespace cleanslate::controller::testing
