#include "controller/report_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/formats/render.hpp"
#include "corpus_reports.hpp"
#include "golden_report.hpp"
#include "random_report.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::ordered_json;

std::string form(const Report& report, Format format, std::size_t columns = 80) {
    Rendering rendering;
    rendering.columns = columns;
    std::string text;
    render(report, format, rendering, [&](std::string_view piece) { text += piece; });
    return text;
}

std::string json_of(const Report& report) { return form(report, Format::json); }

Report read(const std::string& json) {
    auto report = read_report(json, "a.json");
    EXPECT_TRUE(report) << report.error().message;
    return report ? std::move(*report) : Report();
}

// Every form of what is read is that of what was written.
void expect_same_forms(const Report& report) {
    const std::string json = json_of(report);
    const Report back = read(json);
    EXPECT_EQ(json_of(back), json);
    for (const std::size_t columns : {40, 80, 200})
        EXPECT_EQ(form(back, Format::text, columns), form(report, Format::text, columns)) << columns;
    for (const Format format : {Format::jsonl, Format::csv, Format::junit, Format::prom, Format::html}) {
        if (report.is_run() && (format == Format::csv || format == Format::prom)) continue;
        EXPECT_EQ(form(back, format), form(report, format)) << to_string(format);
    }
}

// The message of what is refused.
std::string refusal(const std::string& json) {
    const auto report = read_report(json, "a.json");
    if (report) return "it was read";
    EXPECT_EQ(report.error().kind, "report");
    EXPECT_THAT(report.error().message, StartsWith("a.json: "));
    EXPECT_FALSE(report.error().remedy.empty());
    return report.error().message.substr(8);
}

// Of the golden report, changed.
std::string refusal_of(const std::function<void(Json&)>& change) {
    Json json = Json::parse(json_of(golden_report()));
    change(json);
    return refusal(json.dump());
}

TEST(ReportReader, ReadsEveryFormOfTheGoldenReport) {
    expect_same_forms(golden_report());
    expect_same_forms(golden_run());
}

TEST(ReportReader, ReadsWhatOnlySomeReportsSay) {
    Report report = report_of({planned_host("gpu01"), not_tried_host("gpu02")}, "clear");
    report.dry_run = report.declined = true;
    report.result.failure_limit_reached = true;
    report.exit_status = 4;
    expect_same_forms(report);
    report = report_of({dirty_host("here")});
    report.local = true;
    report.result.interrupted = true;
    expect_same_forms(report);
    report.result.interrupted = false;
    report.result.deadline_passed = true;
    report.result.audit_failed = true;
    report.result.audit_error = "disk full";
    expect_same_forms(report);
    EXPECT_TRUE(read(json_of(report)).result.audit_failed);
    expect_same_forms(report_of({clean_host("-")}, "parse"));
    expect_same_forms(report_of({}, "check"));
}

TEST(ReportReader, ReadsEveryFormOfAnyReport) {
    RandomReports reports(20261130);
    for (int i = 0; i < 300 && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(i);
        expect_same_forms(reports.next());
    }
}

TEST(ReportReader, ReadsEveryFormOfWhatTheCorpusIsJudgedAs) {
    for (const Report& report : corpus_reports()) {
        SCOPED_TRACE(report.result.hosts[0].name);
        expect_same_forms(report);
    }
}

TEST(ReportReader, ReadsAnyLayoutOfTheSameJson) {
    const std::string json = json_of(golden_report());
    EXPECT_EQ(json_of(read(Json::parse(json).dump(4))), json);
    EXPECT_EQ(json_of(read(nlohmann::json::parse(json).dump())),
              json_of(read(nlohmann::json::parse(json).dump(1))))
        << "members by name";
    Json reversed;
    const Json ordered = Json::parse(json);
    for (auto member = ordered.rbegin(); member != ordered.rend(); ++member) reversed[member.key()] = *member;
    EXPECT_EQ(json_of(read(reversed.dump())), json);
}

TEST(ReportReader, IgnoresWhatANewerWriterAdds) {
    Json json = Json::parse(json_of(golden_report()));
    json["weather"] = {{"rain", {1, 2, {{"deep", nullptr}}}}};
    json["hosts"][3]["mood"] = "good";
    json["hosts"][3]["gpus"][0]["colour"] = 7;
    json["hosts"][3]["gpus"][0]["holders"][0]["shoe_size"] = 44.5;
    EXPECT_EQ(json_of(read(json.dump())), json_of(golden_report()));
}

// The report of the last release that did not say what was added since.
TEST(ReportReader, ReadsAnOlderReport) {
    Json json = Json::parse(json_of(golden_report()));
    for (const char* name : {"inventory", "limit", "declined", "local", "audit_error"}) json.erase(name);
    const auto keep = [](Json& object, const std::vector<std::string>& names) {
        for (Json& one : object)
            for (const char* name :
                 {"exe", "state", "used_mib", "protected", "protected_by", "unit", "age_seconds", "ghost",
                  "inherited", "foreign_pid", "without_device", "end_state"})
                if (std::ranges::find(names, name) == names.end()) one.erase(name);
    };
    for (Json& host : json["hosts"]) {
        for (const char* name : {"surveyed", "boot_id", "driver_version"}) host.erase(name);
        for (Json& gpu : host["gpus"]) gpu.erase("judged");
        keep(host["actions"], {});
        keep(host["spared"], {});
    }
    const Report report = read(json.dump());
    ASSERT_EQ(report.result.hosts.size(), golden_report().result.hosts.size());
    EXPECT_EQ(summarize(report).hosts, summarize(golden_report()).hosts);
    EXPECT_EQ(summarize(report).gpus, summarize(golden_report()).gpus);
    EXPECT_FALSE(report.local);
    EXPECT_TRUE(report.result.hosts[0].last);
    EXPECT_FALSE(report.result.hosts[11].last) << "an unreachable one was never surveyed";
    EXPECT_EQ(report.result.hosts[7].signals[1].process.user, "frank");
}

TEST(ReportReader, KnowsOfAnOlderReportWhichGpusWereNotJudged) {
    HostOutcome host = clean_host("gpu01");
    host.last->gpus[2] = gpu(2, Verdict::dirty, 76'107);
    host.last->gpus[2].judged = false;
    const std::string json = json_of(report_of({host, dirty_host("gpu02")}));
    Json older = Json::parse(json);
    for (Json& one : older["hosts"])
        for (Json& gpu : one["gpus"]) gpu.erase("judged");
    EXPECT_EQ(json_of(read(older.dump())), json);
}

TEST(ReportReader, SaysThatATextIsNoReport) {
    EXPECT_EQ(refusal(""), "empty");
    EXPECT_EQ(refusal("GPU 0: 76107 MiB\n"), "no JSON at line 1, column 1");
    EXPECT_EQ(refusal("{\n  \"schema\": cleanslate }"), "schema: no JSON at line 2, column 13");
    EXPECT_EQ(refusal("[]"), "no object");
    EXPECT_EQ(refusal("7"), "no object");
    EXPECT_EQ(refusal("{}"), "schema: it is missing");
    EXPECT_EQ(refusal("{\"schema\":7}"), "schema: wants a text, not 7");
    EXPECT_EQ(refusal("{\"schema\":\"cleanslate.audit/1\",\"hosts\":[{}]}"),
              "schema: wants cleanslate.report/1, not 'cleanslate.audit/1'");
    EXPECT_THAT(refusal(json_of(golden_report()) + "{}"), HasSubstr("no JSON at line"));
}

TEST(ReportReader, RefusesACutReportWhereverItIsCut) {
    const std::string json = json_of(report_of({dirty_host("gpu01"), clean_host("gpu02")}));
    for (std::size_t size = 0; size + 1 < json.size(); ++size)
        ASSERT_THAT(refusal(json.substr(0, size)), ::testing::AnyOf("empty", HasSubstr("ends in the middle")))
            << size;
    EXPECT_THAT(refusal(json.substr(0, json.find("gpu02"))), "hosts[1].name: it ends in the middle");
}

TEST(ReportReader, SaysWhichMemberIsMissing) {
    EXPECT_EQ(refusal_of([](Json& json) { json.erase("hosts"); }), "hosts: it is missing");
    EXPECT_EQ(refusal_of([](Json& json) { json.erase("summary"); }), "summary: it is missing");
    EXPECT_EQ(refusal_of([](Json& json) { json["hosts"][3]["gpus"][1].erase("used_mib"); }),
              "hosts[3].gpus[1].used_mib: it is missing");
    EXPECT_EQ(refusal_of([](Json& json) { json["hosts"][3]["gpus"][0]["holders"][0].erase("exe"); }),
              "hosts[3].gpus[0].holders[0].exe: it is missing");
    // Every member that was always there, of every part of a host.
    const Json golden = Json::parse(json_of(golden_report()));
    for (const auto& [name, value] : golden["hosts"][0].items()) {
        if (name == "surveyed" || name == "boot_id" || name == "driver_version") continue;
        EXPECT_EQ(refusal_of([&](Json& json) { json["hosts"][0].erase(name); }),
                  "hosts[0]." + name + ": it is missing");
    }
}

TEST(ReportReader, SaysWhichMemberHasTheWrongType) {
    const auto with = [](const char* place, const Json& value) {
        return refusal_of([&](Json& json) { json[Json::json_pointer(place)] = value; });
    };
    EXPECT_EQ(with("/hosts", 7), "hosts: wants a list, not 7");
    EXPECT_EQ(with("/hosts/1", "gpu01"), "hosts[1]: wants an object, not 'gpu01'");
    EXPECT_EQ(with("/hosts/0/verdict", "fine"),
              "hosts[0].verdict: wants one of clean, dirty, sick, unknown, unreachable, not 'fine'");
    EXPECT_EQ(with("/hosts/0/verdict", nullptr), "hosts[0].verdict: wants a verdict");
    EXPECT_EQ(with("/hosts/0/gpus/0/verdict", "unreachable"),
              "hosts[0].gpus[0].verdict: wants one of clean, dirty, sick, unknown, not 'unreachable'");
    EXPECT_EQ(with("/hosts/3/gpus/0/used_mib", "76107"),
              "hosts[3].gpus[0].used_mib: wants a whole number from 0 to 1099511627776, not '76107'");
    EXPECT_EQ(with("/hosts/0/seconds", true), "hosts[0].seconds: wants seconds from 0 on, not a truth value");
    EXPECT_EQ(with("/hosts/0/findings", nullptr), "hosts[0].findings: wants a list, not null");
    EXPECT_EQ(with("/hosts/0/port", nullptr), "it was read");
    EXPECT_EQ(with("/hosts/0/port", 0), "hosts[0].port: wants a whole number from 1 to 65535, not 0");
    EXPECT_EQ(with("/local", true), "hosts[0].port: wants null: there was no SSH");
    EXPECT_EQ(with("/dry_run", 1), "dry_run: wants true or false, not 1");
    EXPECT_EQ(with("/command", "trust"), "command: wants one of check, clear, run, parse");
    EXPECT_EQ(with("/started", "yesterday"), "started: wants a time in UTC, as in 2026-11-29T12:00:00Z");
    EXPECT_EQ(with("/summary/stopped_by", "rain"),
              "summary.stopped_by: wants null, interrupted, deadline or max-failures");
    EXPECT_EQ(
        with("/hosts/7/actions/0/result", "sent"),
        "hosts[7].actions[0].result: wants one of ended, alive, zombie, changed, not_permitted, planned, "
        "not_sent, not 'sent'");
    EXPECT_EQ(with("/hosts/7/commands/4/withheld", false),
              "hosts[7].commands[4].withheld: says other than the result");
    EXPECT_EQ(with("/hosts/7/commands/4/stdout", ""),
              "hosts[7].commands[4].stdout: wants null, since nothing ran");
    EXPECT_EQ(with("/hosts/8/plan/0/commands", {7}),
              "hosts[8].plan[0].commands[0]: the host has no such command");
    EXPECT_EQ(with("/hosts/3/gpus/0/holders/1/state", "SS"),
              "hosts[3].gpus[0].holders[1].state: wants one letter, not 'SS'");
    EXPECT_EQ(with("/hosts/3/gpus/0/holders/1/start", "five"),
              "hosts[3].gpus[0].holders[1].start: wants a decimal number in a text");
    EXPECT_EQ(with("/hosts/0/name", ""), "hosts[0].name: it is empty");
    EXPECT_EQ(with("/hosts/11/surveyed", true), "it was read");
    EXPECT_EQ(with("/hosts/0/surveyed", false), "hosts[0].gpus: nothing was surveyed");
}

TEST(ReportReader, RefusesAbsurdNumbers) {
    const auto with = [](const std::string& number) {
        std::string json = json_of(report_of({dirty_host("gpu01")}));
        const std::string used = "\"used_mib\":76107";
        json.replace(json.find(used), used.size(), "\"used_mib\":" + number);
        return refusal(json);
    };
    EXPECT_THAT(with("-1"), HasSubstr("hosts[0].gpus[2].used_mib: wants a whole number"));
    EXPECT_THAT(with("1e300"), HasSubstr("not 1e+300"));
    EXPECT_THAT(with("0.5"), HasSubstr("not 0.5"));
    EXPECT_THAT(with("99999999999999999999999999"), HasSubstr("wants a whole number"));
    EXPECT_THAT(with("1e999"), HasSubstr("no JSON"));
    EXPECT_THAT(with("NaN"), HasSubstr("no JSON"));
    EXPECT_THAT(refusal_of([](Json& json) { json["seconds"] = 1e18; }), HasSubstr("wants seconds"));
    EXPECT_THAT(refusal_of([](Json& json) { json["summary"]["exit_status"] = 256; }),
                HasSubstr("from 0 to 255"));
    EXPECT_THAT(refusal_of([](Json& json) { json["hosts"][0]["port"] = 65'536; }),
                HasSubstr("from 1 to 65535"));
    EXPECT_THAT(
        refusal_of([](Json& json) { json["hosts"][3]["gpus"][0]["holders"][0]["pid"] = 4'294'967'296; }),
        HasSubstr("from 1 to 2147483647"));
}

TEST(ReportReader, RefusesWhatStandsTwice) {
    EXPECT_EQ(refusal_of([](Json& json) { json["hosts"][4]["name"] = "gpu01"; }),
              "hosts[4].name: 'gpu01' stands twice");
    std::string json = json_of(report_of({clean_host("gpu01")}));
    json.replace(json.find("\"verdict\":\"clean\""), 17, "\"verdict\":\"clean\",\"verdict\":\"dirty\"");
    EXPECT_EQ(refusal(json), "summary: 'verdict' stands twice");
    std::string cells = "\"optional\":{";
    for (int i = 0; i < 1000; ++i) cells += "\"field" + std::to_string(i % 999) + "\":\"x\",";
    cells.back() = '}';
    json = json_of(report_of({clean_host("gpu01")}));
    json.replace(json.find("\"optional\":null"), 15, cells);
    EXPECT_EQ(refusal(json), "hosts[0].gpus[0].optional: 'field0' stands twice");
}

TEST(ReportReader, BelievesNoCleanThatTheHostsOwnPartsContradict) {
    const Report clean = report_of({clean_host("gpu01")});
    Json report = Json::parse(json_of(clean));
    const auto refusal_where = [&](auto change) {
        Json changed = report;
        change(changed["hosts"][0]);
        return refusal(changed.dump());
    };
    EXPECT_TRUE(read_report(report.dump(), "a.json"));
    EXPECT_EQ(refusal_where([](Json& host) { host["gpus"][1]["verdict"] = "dirty"; }),
              "hosts[0].verdict: clean, and gpus[1] is dirty");
    EXPECT_EQ(refusal_where([](Json& host) { host["gpus"][0]["verdict"] = "unknown"; }),
              "hosts[0].verdict: clean, and gpus[0] is unknown");
    EXPECT_EQ(refusal_where([](Json& host) {
                  host["surveyed"] = false;
                  host["gpus"] = Json::array();
              }),
              "hosts[0].verdict: clean, and nothing was surveyed");
    EXPECT_EQ(
        refusal_where([](Json& host) {
            host["error"] = {{"kind", "timeout"}, {"phase", nullptr}, {"message", "x"}, {"remedy", nullptr}};
        }),
        "hosts[0].verdict: clean, and it did not come to its end");
}

TEST(ReportReader, BelievesNoDryRunThatHasRunSomething) {
    EXPECT_THAT(refusal_of([](Json& report) { report["dry_run"] = true; }),
                HasSubstr("the report is of a dry run"));
}

TEST(ReportReader, RefusesWhatIsNestedTooDeep) {
    EXPECT_EQ(refusal(std::string(1'000'000, '[')), "no object");
    EXPECT_THAT(refusal("{\"x\":" + std::string(1'000'000, '[')), HasSubstr("nested deeper than 32"));
    std::string bomb;
    for (int i = 0; i < 100'000; ++i) bomb += "{\"x\":";
    EXPECT_THAT(refusal(bomb), HasSubstr("nested deeper than 32"));
    EXPECT_THAT(refusal("{\"hosts\":[" + bomb), HasSubstr("hosts[0].x.x"));
}

TEST(ReportReader, RefusesMoreValuesThanAReportHas) {
    std::string zeros = "0";
    for (int i = 0; i < 1'000'000; ++i) zeros += ",0";
    EXPECT_THAT(refusal("{\"x\":[" + zeros + "]}"), HasSubstr("more than 1000000 values"));
    EXPECT_THAT(refusal("{\"hosts\":[[" + zeros + "]]}"), HasSubstr("hosts[0]"));
}

TEST(ReportReader, MakesTextsPrintableAgain) {
    std::string json = json_of(report_of({dirty_host("gpu01")}));
    json.replace(json.find("alice"), 5, "\\u001b[2J\\u202e\\u0000");
    const Report report = read(json);
    EXPECT_EQ(report.result.hosts[0].last->gpus[2].holders[0].user, "\\x1B[2J\\xE2\\x80\\xAE\\x00");
    json.replace(json.find("sleep 100000"), 12, "\xff");
    EXPECT_THAT(refusal(json), HasSubstr("no JSON at line 3")) << "JSON is UTF-8";
}

TEST(ReportReader, ShowsAndNamesHostileTextHarmlessly) {
    EXPECT_EQ(refusal_of([](Json& json) { json["hosts"][0]["verdict"] = "\x1b[2J\n"; }),
              "hosts[0].verdict: wants one of clean, dirty, sick, unknown, unreachable, not '\\x1B[2J\\x0A'");
    EXPECT_THAT(refusal("{\"a\\u001b[2J\":[" + std::string(40, '[')), HasSubstr("a\\x1B[2J"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
