#include "controller/formats/prom_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <set>
#include <sstream>
#include <thread>

#include "../golden_report.hpp"
#include "controller/files.hpp"
#include "outside.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string prom_of(std::vector<HostOutcome> hosts, std::string command = "check") {
    return rendered(report_of(std::move(hosts), std::move(command)), Format::prom);
}

// Everything up to the value.
std::vector<std::string> series_of(const std::string& prom) {
    std::vector<std::string> series;
    std::istringstream lines(prom);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('#')) series.push_back(line.substr(0, line.rfind(' ')));
    return series;
}

TEST(PromReport, HasOneSeriesForEachVerdictOfAHost) {
    EXPECT_THAT(prom_of({dirty_host("gpu01")}),
                HasSubstr("# HELP cleanslate_host_verdict 1 for the verdict of the host, else 0.\n"
                          "# TYPE cleanslate_host_verdict gauge\n"
                          "cleanslate_host_verdict{host=\"gpu01\",verdict=\"clean\"} 0\n"
                          "cleanslate_host_verdict{host=\"gpu01\",verdict=\"dirty\"} 1\n"
                          "cleanslate_host_verdict{host=\"gpu01\",verdict=\"sick\"} 0\n"
                          "cleanslate_host_verdict{host=\"gpu01\",verdict=\"unknown\"} 0\n"
                          "cleanslate_host_verdict{host=\"gpu01\",verdict=\"unreachable\"} 0\n"));
}

TEST(PromReport, TellsMemoryInBytesHoldersAndFindings) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].limit = Mebibytes{100};
    host.last->gpus[2].findings.push_back(host.last->gpus[2].findings[0]);
    host.last->gpus[2].holders.push_back(holder(99, "root", "monitor"));
    host.last->gpus[2].holders.back().is_protected = true;
    host.last->openers = {holder(77, "alice", "x")};
    const std::string prom = prom_of({host});
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_gpu_memory_used_bytes{host=\"gpu01\",gpu=\"2\",uuid=\"GPU-2\"} "
                                "79803973632\n"));
    EXPECT_THAT(prom,
                HasSubstr("\ncleanslate_gpu_memory_limit_bytes{host=\"gpu01\",gpu=\"2\",uuid=\"GPU-2\"} "
                          "104857600\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_gpu_holders{host=\"gpu01\",gpu=\"2\",uuid=\"GPU-2\","
                                "protected=\"false\"} 1\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_gpu_holders{host=\"gpu01\",gpu=\"2\",uuid=\"GPU-2\","
                                "protected=\"true\"} 1\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_gpu_findings{host=\"gpu01\",gpu=\"2\",uuid=\"GPU-2\","
                                "code=\"memory-in-use\",severity=\"dirty\"} 2\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_host_openers{host=\"gpu01\"} 1\n"));
}

TEST(PromReport, TellsTheSweep) {
    HostOutcome host = dirty_host("gpu01");
    host.signals = {signal_action(1, "TERM", holder(70, "a", "x"), SignalResult::ended),
                    signal_action(1, "TERM", holder(71, "a", "x"), SignalResult::sent)};
    Report report = report_of({host, clean_host("gpu02")}, "clear");
    report.exit_status = 1;
    const std::string prom = rendered(report, Format::prom);
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_sweep_timestamp_seconds 1795953600\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_sweep_duration_seconds 1.9\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_sweep_exit_status 1\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_sweep_hosts{verdict=\"clean\"} 1\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_sweep_gpus{verdict=\"dirty\"} 1\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_sweep_signals_total{result=\"ended\"} 1\n"));
    EXPECT_THAT(prom, HasSubstr("\ncleanslate_sweep_signals_total{result=\"unknown\"} 1\n"));
    EXPECT_THAT(prom_of({host}), Not(HasSubstr("signals_total"))) << "check sends none";
}

TEST(PromReport, TellsNothingThatWasNotObserved) {
    HostOutcome host = clean_host("gpu01");
    host.last->gpus.resize(1);
    host.last->gpus[0].used.reset();
    host.last->gpus[0].total.reset();
    const std::string prom = prom_of({host, not_tried_host("gpu02")});
    EXPECT_THAT(prom, Not(HasSubstr("memory")));
    EXPECT_THAT(prom, Not(HasSubstr("cleanslate_host_duration_seconds{host=\"gpu02\"}")));
    EXPECT_THAT(prom, Not(HasSubstr("cleanslate_host_openers{host=\"gpu02\"}")));
    EXPECT_THAT(prom, HasSubstr("cleanslate_host_verdict{host=\"gpu02\",verdict=\"unknown\"} 1\n"));
    EXPECT_THAT(prom_of({host}, "parse"), Not(HasSubstr("holders")));
    EXPECT_THAT(prom_of({asked_host("gpu01", 0, "")}, "run"), Not(HasSubstr("host_verdict")));
    Report undated = report_of({host});
    undated.started = "yesterday";
    EXPECT_THAT(rendered(undated, Format::prom), Not(HasSubstr("timestamp")));
}

// What no sweep should bring forth, and a report in a file may say.
Report report_full_of_repeats() {
    HostOutcome host = dirty_host("gpu01");
    for (GpuVerdict& gpu : host.last->gpus) {
        gpu.index = 0;
        gpu.uuid = "GPU-0";
        gpu.findings = {{Severity::dirty, "x", "", ""}, {Severity::dirty, "x", "", ""}};
    }
    host.last->gpus[5].index.reset();
    host.last->gpus[6].index.reset();
    HostOutcome other = host;
    other.name = "gpu01#2";
    return report_of({host, host, other, host, clean_host("a\"b\\c\n")});
}

TEST(PromReport, RepeatsNoSeriesWhateverTheReport) {
    for (const Report& report : {report_full_of_repeats(), golden_report()}) {
        const auto series = series_of(rendered(report, Format::prom));
        EXPECT_EQ(std::set(series.begin(), series.end()).size(), series.size());
    }
    const std::string prom = rendered(report_full_of_repeats(), Format::prom);
    EXPECT_THAT(prom, HasSubstr("{host=\"gpu01\",gpu=\"0#6\",uuid=\"GPU-0\""));
    EXPECT_THAT(prom, HasSubstr("{host=\"gpu01\",gpu=\"?#2\",uuid=\"GPU-0\""));
    EXPECT_THAT(prom, HasSubstr("{host=\"gpu01#2#2\","));
    EXPECT_THAT(prom, HasSubstr("{host=\"a\\\"b\\\\c\\\\x0A\","));
}

TEST(PromReport, SaysEachMetricsTypeOnceAboveItsSamples) {
    std::set<std::string> ended;
    std::string current;
    std::istringstream lines(rendered(golden_report(), Format::prom));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# HELP ")) continue;
        const bool is_type = line.starts_with("# TYPE ");
        const std::string name =
            is_type ? line.substr(7, line.find(' ', 7) - 7) : line.substr(0, line.find_first_of("{ "));
        if (is_type) {
            EXPECT_TRUE(ended.insert(name).second) << name;
            current = name;
        }
        EXPECT_EQ(name, current);
    }
}

TEST(PromReport, IsAcceptedByPromtoolWithoutAWord) {
    const std::string promtool = outside_program("usr/bin/promtool");
    if (promtool.empty()) GTEST_SKIP() << "no promtool here: ./dev test fetches it";
    std::vector<Report> reports{golden_report(), report_full_of_repeats(), report_of({}),
                                report_of({clean_host("-")}, "parse"), golden_run()};
    for (const Report& report : reports) {
        const Ended ended = run_outside({promtool, "check", "metrics"}, rendered(report, Format::prom));
        EXPECT_EQ(ended.status, 0) << report.command;
        EXPECT_EQ(ended.out + ended.err, "") << report.command;
    }
    const Ended wrong = run_outside({promtool, "check", "metrics"}, "cleanslate_x_mib 1\n");
    EXPECT_NE(wrong.out + wrong.err, "") << "it would have said so";
}

TEST(PromReport, IsNeverSeenHalfWrittenAndMayBeReadByNodeExporter) {
    const mode_t mask = ::umask(022);  // as services have it, unless told otherwise
    const TemporaryFolder folder;
    const std::string file = folder.file("cleanslate.prom");
    const std::string old = prom_of({clean_host("gpu01")}), fresh = rendered(golden_report(), Format::prom);
    ASSERT_TRUE(replace_file(file, old));
    std::atomic<bool> ended = false;
    std::thread exporter([&] {
        while (!ended) {
            const std::string seen = contents_of(file);
            ASSERT_TRUE(seen == old || seen == fresh) << seen.size();
        }
    });
    for (int i = 0; i < 50; ++i) {
        FileReplacement replacement(file);
        render(i % 2 == 0 ? golden_report() : report_of({clean_host("gpu01")}), Format::prom, {},
               [&](std::string_view piece) { replacement.write(piece); });
        ASSERT_TRUE(replacement.commit());
    }
    ended = true;
    exporter.join();
    EXPECT_EQ(mode_of(file), 0644u);
    ::umask(mask);
}

}  // namespace
}  // namespace cleanslate::controller::testing
