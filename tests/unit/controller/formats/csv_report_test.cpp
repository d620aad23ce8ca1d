#include "controller/formats/csv_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "../golden_report.hpp"
#include "outside.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Row = std::vector<std::string>;

// RFC 4180 with LF, and nothing else: whatever a lenient reader would forgive fails.
std::vector<Row> read_strictly(const std::string& text) {
    std::vector<Row> rows;
    Row row;
    for (std::size_t i = 0; i < text.size();) {
        std::string cell;
        if (text[i] == '"') {
            for (++i;; ++i) {
                if (i >= text.size()) throw std::runtime_error("an open quote");
                if (text[i] == '"' && (++i >= text.size() || text[i] != '"')) break;
                cell += text[i];
            }
        } else {
            while (i < text.size() && text[i] != ',' && text[i] != '\n') {
                if (text[i] == '"') throw std::runtime_error("a quote in a plain cell");
                cell += text[i++];
            }
        }
        row.push_back(std::move(cell));
        if (i >= text.size()) throw std::runtime_error("no line end");
        if (text[i] != ',' && text[i] != '\n') throw std::runtime_error("something behind a quote");
        if (text[i++] == '\n') rows.push_back(std::exchange(row, {}));
        if (i == text.size() && !row.empty()) throw std::runtime_error("no line end");
    }
    return rows;
}

std::string csv_of(std::vector<HostOutcome> hosts, std::string command = "check") {
    return rendered(report_of(std::move(hosts), std::move(command)), Format::csv);
}

// By column.
std::vector<std::map<std::string, std::string>> records_of(const std::string& csv) {
    const auto rows = read_strictly(csv);
    std::vector<std::map<std::string, std::string>> records;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        auto& record = records.emplace_back();
        EXPECT_EQ(rows[i].size(), rows[0].size()) << "row " << i;
        for (std::size_t k = 0; k < rows[i].size(); ++k) record[rows[0].at(k)] = rows[i][k];
    }
    return records;
}

TEST(CsvReport, HasARowAGpu) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].limit = Mebibytes{100};
    host.last->gpus[2].holders.push_back(holder(70, "uid 1000", "a"));
    host.last->gpus[2].holders.push_back(holder(71, "alice", "b"));
    host.last->findings = {{Severity::note, "holders-not-visible", "", ""}};
    const std::string csv = csv_of({host});
    EXPECT_THAT(csv, StartsWith("host,host_verdict,gpu,uuid,bus_id,name,verdict,used_mib,total_mib,limit_mib,"
                                "holders,pids,users,findings,host_findings,error\n"
                                "gpu01,dirty,0,GPU-0,00000000:00:00.0,NVIDIA H200,clean,0,143771,,0,,,,"
                                "holders-not-visible,\n"));
    EXPECT_THAT(csv, HasSubstr("\ngpu01,dirty,2,GPU-2,00000000:02:00.0,NVIDIA H200,dirty,76107,143771,100,3,"
                               "812;70;71,alice;uid 1000,memory-in-use,holders-not-visible,\n"));
    EXPECT_THAT(read_strictly(csv), SizeIs(9));
}

TEST(CsvReport, LeavesNoHostOut) {
    const auto records = records_of(csv_of({unreachable_host("gpu01"), not_tried_host("gpu02")}));
    ASSERT_THAT(records, SizeIs(2));
    EXPECT_EQ(records[0].at("host"), "gpu01");
    EXPECT_EQ(records[0].at("host_verdict"), "unreachable");
    EXPECT_EQ(records[0].at("error"), "connect: connection refused");
    EXPECT_EQ(records[1].at("host_verdict"), "unknown");
    for (const char* cell : {"gpu", "uuid", "verdict", "used_mib", "holders", "pids"})
        EXPECT_EQ(records[0].at(cell), "") << cell;
}

TEST(CsvReport, LeavesEmptyWhatWasNotObserved) {
    HostOutcome host = clean_host("-");
    host.last->gpus.resize(1);
    host.last->gpus[0].used.reset();
    host.last->gpus[0].index.reset();
    const auto records = records_of(csv_of({host}, "parse"));
    ASSERT_THAT(records, SizeIs(1));
    EXPECT_EQ(records[0].at("host"), "-");
    EXPECT_EQ(records[0].at("gpu"), "");
    EXPECT_EQ(records[0].at("used_mib"), "");
    EXPECT_EQ(records[0].at("holders"), "") << "nobody looked for any";
}

TEST(CsvReport, GivesAHolderWithoutPidAPlace) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].holders = {Holder{}, holder(70, "alice", "x")};
    EXPECT_EQ(records_of(csv_of({host}))[2].at("pids"), "?;70");
}

TEST(CsvReport, MakesFormulasHarmlessForSpreadsheets) {
    for (const std::string evil : {"=1+2", "+cmd|x", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\uFF1D1+2"}) {
        HostOutcome host = clean_host("gpu01");
        host.last->gpus.resize(1);
        host.last->gpus[0].name = evil;
        const std::string cell = records_of(csv_of({host}))[0].at("name");
        EXPECT_TRUE(cell.starts_with('\'') || cell.starts_with('\\')) << cell;
    }
}

TEST(CsvReport, IsReadBackByAStrictReader) {
    const Report report = golden_report();
    const auto records = records_of(rendered(report, Format::csv));
    std::size_t at = 0;
    for (const HostOutcome& host : report.result.hosts) {
        const std::size_t rows = host.last && !host.last->gpus.empty() ? host.last->gpus.size() : 1;
        for (std::size_t i = 0; i < rows; ++i, ++at) {
            ASSERT_LT(at, records.size());
            EXPECT_EQ(records[at].at("host"), host.name);
            EXPECT_EQ(records[at].at("host_verdict"), to_string(host.verdict));
        }
    }
    EXPECT_EQ(at, records.size());
}

TEST(CsvReport, IsReadBackByPython) {
    const std::string python = outside_program("usr/bin/python3");
    if (python.empty()) GTEST_SKIP() << "no /usr/bin/python3 here";
    const std::string csv = rendered(golden_report(), Format::csv);
    const Ended ended = run_outside({python, "-c",
                                     "import csv, io, json, sys\n"
                                     "text = sys.stdin.buffer.read().decode('utf-8')\n"
                                     "print(json.dumps(list(csv.reader(io.StringIO(text, newline=''), "
                                     "strict=True))))"},
                                    csv);
    ASSERT_EQ(ended.status, 0) << ended.err;
    const auto rows = nlohmann::json::parse(ended.out).get<std::vector<Row>>();
    EXPECT_EQ(rows, read_strictly(csv));
    EXPECT_THAT(rows, Each(SizeIs(rows[0].size())));
}

TEST(CsvReport, BeginsNoFormulaBehindASemicolonEither) {
    HostOutcome host = clean_host("gpu01");
    host.last->gpus[0].name = "A;=HYPERLINK(1);B;@x";
    EXPECT_THAT(rendered(report_of({host}), Format::csv), HasSubstr(",A;'=HYPERLINK(1);B;'@x,"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
