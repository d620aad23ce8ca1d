#include "controller/missing_shards.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "controller/exit_status.hpp"
#include "controller/json_report.hpp"
#include "controller/merge_reports.hpp"
#include "controller/report_reader.hpp"
#include "golden_report.hpp"
#include "text_of.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int count = 3;

std::vector<std::string> fleet() {
    std::vector<std::string> names;
    for (int i = 1; i <= 12; ++i) names.push_back(fmt::format("gpu{:02}", i));
    return names;
}

// All its hosts clean.
NamedReport shard(int index, const std::vector<std::string>& names = fleet(), int of = count) {
    NamedReport named{fmt::format("{}.json", index), report_of({})};
    named.report.share = *share_of({index, of}, names);
    for (const std::string& name : names)
        if (shard_of(name, of) == index) named.report.result.hosts.push_back(clean_host(name));
    return named;
}

std::string refusal(const std::vector<NamedReport>& reports) {
    const auto missing = missing_hosts(reports);
    if (missing) return "taken";
    EXPECT_EQ(missing.error().kind, "usage");
    EXPECT_FALSE(missing.error().remedy.empty());
    return missing.error().message;
}

Report merged(std::vector<NamedReport> reports) {
    auto all = merge_reports(std::move(reports));
    EXPECT_TRUE(all) << all.error().message;
    if (!all) return {};
    all->exit_status = exit_status_of_read(*all);
    return std::move(*all);
}

std::string json_of(const Report& report) {
    std::string text;
    write_json(report, false, [&](std::string_view piece) { text += piece; });
    return text;
}

TEST(MissingShards, AreNoneWhereEveryShardHasItsReport) {
    const Report all = merged({shard(2), shard(1), shard(3)});
    EXPECT_EQ(all.result.hosts.size(), 12u);
    EXPECT_EQ(all.exit_status, 0);
    EXPECT_FALSE(all.share) << "it is the whole";
    EXPECT_TRUE(missing_hosts({{"a", report_of({})}, {"b", report_of({})}})->empty()) << "no shards at all";
}

TEST(MissingShards, LeaveTheirHostsUnknown) {
    const Report all = merged({shard(1), shard(3)});
    EXPECT_EQ(all.result.hosts.size(), 12u);
    EXPECT_EQ(all.exit_status, 3);
    std::vector<std::string> unknown, expected;
    for (const HostOutcome& host : all.result.hosts)
        if (host.verdict != Verdict::clean) unknown.push_back(host.name);
    for (const std::string& name : fleet())
        if (shard_of(name, count) == 2) expected.push_back(name);
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(unknown, expected);
    const HostOutcome& host = all.result.hosts.back();
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_EQ(host.error->kind, "shard_missing");
    EXPECT_EQ(host.error->message, "shard 2/3 has no report among those that were merged");
    EXPECT_THAT(host.error->remedy, HasSubstr("--shard 2/3"));
    ASSERT_EQ(host.findings.size(), 1u);
    EXPECT_EQ(host.findings[0].code, "shard-missing");
}

TEST(MissingShards, AreSaidInOneLineOfText) {
    const std::string text = written(merged({shard(1), shard(3)}));
    EXPECT_THAT(text, HasSubstr("shard 2/3 has no report"));
    EXPECT_EQ(text.find("shard 2/3"), text.rfind("shard 2/3 has no report")) << text;
    EXPECT_THAT(text, HasSubstr("exit 3"));
}

TEST(MissingShards, OfARunWereNotAsked) {
    NamedReport one = shard(1);
    one.report.command = "run";
    one.report.result.hosts.clear();
    for (const std::string& name : fleet())
        if (shard_of(name, count) == 1) one.report.result.hosts.push_back(asked_host(name, 0, ""));
    EXPECT_EQ(merged({one}).exit_status, 3);
}

TEST(MissingShards, CanBeReadBack) {
    const Report all = merged({shard(1)});
    const std::string json = json_of(all);
    auto again = read_report(json, "merged.json");
    ASSERT_TRUE(again) << again.error().message;
    again->exit_status = exit_status_of_read(*again);
    EXPECT_EQ(json_of(*again), json);
    EXPECT_EQ(again->exit_status, 3);
}

TEST(MissingShards, MakeAHostThatIsNotSelectedNoOtherProblem) {
    EXPECT_EQ(merged({shard(1, {"a", "b"}, 1)}).exit_status, 0);
}

TEST(MissingShards, GoTogetherOnlyWithTheOthersOfTheirSweep) {
    EXPECT_THAT(refusal({shard(1), shard(1, fleet(), 2)}),
                HasSubstr("1.json is shard 1/3 and 1.json is shard 1/2"));
    NamedReport twice = shard(2);
    twice.name = "again.json";
    EXPECT_EQ(refusal({shard(2), twice}), "2.json and again.json are both shard 2/3");
    auto others = fleet();
    others.push_back("gpu13");
    EXPECT_EQ(refusal({shard(1), shard(2, others)}),
              "1.json is a shard of 12 hosts and 2.json of 13 hosts that are not the same");
    EXPECT_EQ(refusal({shard(1), {"whole.json", report_of({clean_host("x")})}}),
              "1.json is shard 1/3 and whole.json is of no shard");
}

TEST(MissingShards, AreNotHiddenByAReportThatHasNotItsHosts) {
    NamedReport short_one = shard(2);
    const std::string gone = short_one.report.result.hosts.back().name;
    short_one.report.result.hosts.pop_back();
    EXPECT_EQ(refusal({shard(1), short_one, shard(3)}), "2.json: " + gone + " is missing in shard 2/3");
    NamedReport full = shard(2);
    full.report.result.hosts.push_back(clean_host("gpu99"));
    EXPECT_EQ(refusal({full}), "2.json: gpu99 is none of the selected hosts of shard 2/3");
    NamedReport other = shard(2);
    other.report.result.hosts = shard(1).report.result.hosts;
    EXPECT_THAT(refusal({other}), HasSubstr("2.json: "));
    NamedReport lies = shard(1);
    lies.report.share->hosts_in_all = 11;
    EXPECT_THAT(refusal({lies}), HasSubstr("does not name 11 hosts"));
    lies.report.share->selection = "gpu[";
    EXPECT_THAT(refusal({lies}), HasSubstr("does not name"));
}

TEST(MissingShards, OfTheNightBeforeAreNotOfThisNight) {
    NamedReport tonight = shard(1), before = shard(2);
    tonight.report.started = "2026-11-30T02:00:00Z";
    before.report.started = "2026-11-29T02:00:07Z";
    const auto all = merge_reports({tonight, before});
    ASSERT_FALSE(all);
    EXPECT_THAT(all.error().message, HasSubstr("not shards of one sweep"));
}

TEST(AShardWithoutHosts, EndsWithZeroAndProvesNothing) {
    NamedReport empty{"1.json", report_of({})};
    empty.report.share = *share_of({1, 7}, {"a"});
    if (shard_of("a", 7) == 1) empty.report.share->shard.index = 2;
    EXPECT_EQ(exit_status(empty.report, {}), 0);
    const std::string text = written(empty.report);
    EXPECT_THAT(text, HasSubstr("no host belongs to this shard"));
    EXPECT_EQ(text.find("clean"), std::string::npos) << text;
    const Report all = merged({empty});
    EXPECT_EQ(all.exit_status, 3) << "the one host has no report";
    empty.report.share.reset();
    EXPECT_EQ(exit_status(empty.report, {}), 3);
}

}  // namespace
}  // namespace cleanslate::controller::testing
