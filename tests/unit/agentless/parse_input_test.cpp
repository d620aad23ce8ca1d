// Texts in, verdicts out: the corpus and the outputs that operators got.

#include "agentless/parse_input.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

std::string corpus(const std::string& name) {
    std::ifstream file(std::string(CLEANSLATE_SOURCE_DIR) + "/tests/corpus/" + name, std::ios::binary);
    EXPECT_TRUE(file) << name;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The samples of seeds.txt, without their comments: `# 1.` begins the first.
std::vector<std::string> seeds() {
    std::vector<std::string> samples;
    const std::string text = corpus("seeds.txt");
    for (const auto line : split(text, '\n')) {
        if (line.starts_with("# ") && line.size() > 3 && line[3] == '.') samples.emplace_back();
        if (!line.starts_with('#') && !samples.empty() && !line.empty())
            samples.back().append(line).append("\n");
    }
    return samples;
}

HostVerdict expect_gpus(std::string_view text, int gpus) {
    ParseOptions options;
    options.expect = gpus;
    return judge_output(text, options);
}

HostVerdict expect_any(std::string_view text, std::vector<std::string> columns = {}) {
    ParseOptions options;
    options.any = true;
    options.columns = std::move(columns);
    return judge_output(text, options);
}

const Finding* find(const std::vector<Finding>& findings, std::string_view code) {
    for (const auto& finding : findings)
        if (finding.code == code) return &finding;
    return nullptr;
}

std::string summary(const HostVerdict& host) {
    std::string line(to_string(host.verdict));
    for (const auto& gpu : host.gpus)
        line += fmt::format(" {}:{}{}", gpu.index ? std::to_string(*gpu.index) : "?", to_string(gpu.verdict),
                            gpu.repaired ? "(repaired)" : "");
    return line;
}

const std::string eight_clean = "0:clean 1:clean 2:clean 3:clean 4:clean 5:clean 6:clean 7:clean";

TEST(Seeds, EightCleanGpusAreClean) {
    const auto host = expect_gpus(seeds().at(0), 8);
    EXPECT_EQ(summary(host), "clean " + eight_clean);
    EXPECT_NE(find(host.findings, "health-not-shown"), nullptr);
    EXPECT_NE(find(host.findings, "holders-not-shown"), nullptr);
}

TEST(ASickRow, HasShownItsHealthAndNeedsNoNoteThatItDidNot) {
    ParseOptions options;
    options.expect = 1;
    const auto host = judge_output(
        "0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, 0 MiB, 143771 MiB, [GPU requires "
        "reset], "
        "[GPU requires reset], NVIDIA H200\n",
        options);
    EXPECT_EQ(summary(host), "sick 0:sick");
    EXPECT_EQ(find(host.findings, "health-not-shown"), nullptr);
}

TEST(Seeds, ARowFusedToPidsIsRepairedAndSaysSo) {
    const auto host = expect_gpus(seeds().at(1), 8);
    EXPECT_EQ(summary(host),
              "clean 0:clean(repaired) 1:clean 2:clean 3:clean 4:clean 5:clean 6:clean 7:clean");
    EXPECT_NE(find(host.gpus.at(0).findings, "row-repaired"), nullptr);
}

TEST(Seeds, TheGpuThatKeptItsMemoryIsDirty) {
    const auto host = expect_gpus(seeds().at(2), 8);
    EXPECT_EQ(summary(host), "dirty 0:clean 1:clean 2:dirty 3:clean 4:clean 5:clean 6:clean 7:clean");
    EXPECT_EQ(host.gpus.at(2).used, Mebibytes{76107});
    ASSERT_NE(find(host.gpus.at(2).findings, "memory-in-use"), nullptr);
    EXPECT_NE(find(host.gpus.at(2).findings, "memory-in-use")->text.find("76107 MiB"), std::string::npos);
}

TEST(Seeds, NothingAtAllIsUnknown) {
    ASSERT_EQ(seeds().size(), 4u);
    EXPECT_EQ(expect_gpus(seeds().at(3), 8).verdict, Verdict::unknown);
    EXPECT_EQ(expect_gpus("", 0).verdict, Verdict::unknown);
    EXPECT_EQ(expect_any("").verdict, Verdict::unknown);
    EXPECT_NE(find(expect_any("\n\n").findings, "no-gpus"), nullptr);
}

struct Sample {
    const char* file;
    const char* verdict;  // as summary() has it, with --expect any
    const char* code;     // a finding that must be there, of the host or a GPU; empty: any
};

TEST(Corpus, OfAnH200IsJudgedFileByFile) {
    const std::vector<std::string> wide{"index",
                                        "uuid",
                                        "pci.bus_id",
                                        "name",
                                        "driver_version",
                                        "memory.total",
                                        "memory.reserved",
                                        "memory.used",
                                        "memory.free",
                                        "utilization.gpu",
                                        "temperature.gpu",
                                        "mig.mode.current",
                                        "ecc.errors.uncorrected.volatile.total",
                                        "remapped_rows.pending",
                                        "compute_mode"};
    const std::vector<Sample> samples{
        {"index_used_idle.txt", "clean 0:clean", "health-not-shown"},
        {"index_used_idle_header.txt", "clean 0:clean", ""},
        {"index_used_idle_nounits.txt", "clean 0:clean", ""},
        {"index_used_busy.txt", "dirty 0:dirty", "memory-in-use"},
        {"index_used_after_term.txt", "dirty 0:dirty", "memory-in-use"},
        {"wide_idle_header.txt", "clean 0:clean", "health-not-shown"},
        {"wide_busy.txt", "dirty 0:dirty", "memory-in-use"},
        {"unknown_field.txt", "unknown", "unknown-field"},
        {"unknown_gpu.txt", "unknown", "no-devices"},
        // Not GPU queries: never clean.
        {"apps_busy_header.txt", "unknown", ""},
        {"apps_busy_nounits.txt", "unknown", ""},
        {"apps_idle_header.txt", "unknown", "no-gpus"},
        {"list.txt", "unknown", "unrecognised-line"},
        {"table_idle.txt", "unknown", "unrecognised-line"},
        {"table_busy.txt", "unknown", "unrecognised-line"},
        {"pmon_idle.txt", "unknown", "unrecognised-line"},
        {"pmon_busy.txt", "unknown", "unrecognised-line"},
        {"q_idle.txt", "unknown", "unrecognised-line"},
        {"help_query_compute_apps.txt", "unknown", "unrecognised-line"},
        {"fuser.stdout.txt", "unknown", "no-gpus"},
        {"fields.tsv", "unknown", "unrecognised-line"},
    };
    for (const auto& sample : samples) {
        const std::string file = sample.file;
        const auto host =
            expect_any(corpus("h200/" + file), file.starts_with("wide") ? wide : std::vector<std::string>{});
        EXPECT_EQ(summary(host).substr(0, std::string(sample.verdict).size()), sample.verdict) << file;
        bool found = *sample.code == 0 || find(host.findings, sample.code) != nullptr;
        for (const auto& gpu : host.gpus) found = found || find(gpu.findings, sample.code) != nullptr;
        EXPECT_TRUE(found) << file << " lacks " << sample.code;
    }
}

TEST(Corpus, AWideRowWithoutHeaderOrColumnsIsUnknown) {
    const auto host = expect_gpus(corpus("h200/wide_busy.txt"), 1);
    EXPECT_EQ(summary(host), "unknown 0:unknown");
    EXPECT_NE(find(host.gpus.at(0).findings, "columns-unknown"), nullptr);
}

TEST(Count, WithoutAnExpectationIsUnprovenAndTheRemedyNamesTheFlag) {
    const auto host = judge_output(seeds().at(0), {});
    EXPECT_EQ(summary(host), "unknown " + eight_clean);
    ASSERT_NE(find(host.findings, "count-unproven"), nullptr);
    EXPECT_NE(find(host.findings, "count-unproven")->remedy.find("--expect"), std::string::npos);
}

TEST(Count, MustBeMet) {
    EXPECT_EQ(summary(expect_gpus("0, 0 MiB\n2, 0 MiB\n", 3)), "unknown 0:clean 1:unknown 2:clean");
    EXPECT_EQ(summary(expect_gpus("0, 0 MiB\n1, 0 MiB\n", 1)), "unknown 0:clean 1:unknown");
    EXPECT_EQ(summary(expect_gpus("0, 0 MiB\n0, 0 MiB\n", 2)), "unknown 0:unknown 0:unknown 1:unknown");
    EXPECT_EQ(summary(expect_gpus("0, 0 MiB\n5, 0 MiB\n", 2)), "unknown 0:clean 1:unknown 5:unknown");
    EXPECT_EQ(expect_gpus("0, 0 MiB\n", 2'000'000'000).verdict, Verdict::unknown);
    EXPECT_EQ(expect_gpus("0, 0 MiB\n", -1).verdict, Verdict::unknown);
    EXPECT_EQ(expect_gpus("0, 0 MiB\n", 0).verdict, Verdict::unknown);
}

TEST(Count, OfZeroIsCleanOnlyWhereTheQuerySaysSo) {
    EXPECT_EQ(expect_gpus("No devices were found\n", 0).verdict, Verdict::clean);
    EXPECT_EQ(expect_gpus("No devices were found\n", 8).verdict, Verdict::unknown);
    EXPECT_EQ(expect_any("No devices were found\n").verdict, Verdict::unknown);
    EXPECT_EQ(expect_gpus("No devices were found\nsomething else\n", 0).verdict, Verdict::unknown);
}

TEST(FusedHeader, IsUnknown) {
    EXPECT_EQ(expect_gpus(" 77201 77201index, memory.used [MiB]\n0, 0 MiB\n", 1).verdict, Verdict::unknown);
}

TEST(SickGpu, ZeroMebibytesAreNoProofOfHealth) {
    const auto host = expect_gpus(
        "index, temperature.gpu, utilization.gpu [%], memory.used [MiB]\n"
        "0, [GPU requires reset], [GPU requires reset], 0 MiB\n",
        1);
    EXPECT_EQ(summary(host), "sick 0:sick");
    EXPECT_NE(find(host.gpus.at(0).findings, "gpu-requires-reset"), nullptr);
}

TEST(SickGpu, WithoutAReadableRowIsPlacedByElimination) {
    const auto host = expect_gpus(
        "0, 0 MiB\n1, 0 MiB\nUnable to determine the device handle for GPU 0000:0B:00.0: Unknown Error\n"
        "[Unknown Error], [Unknown Error]\n3, 0 MiB\n",
        4);
    EXPECT_EQ(summary(host), "sick 0:clean 1:clean 2:sick 3:clean");
    EXPECT_EQ(host.gpus.at(2).bus_id, "00000000:0b:00.0");
}

TEST(SickGpu, WithoutAnyRowIsPlacedByElimination) {
    const auto host = expect_gpus(
        "Unable to determine the device handle for GPU 0000:0B:00.0: GPU is lost.  Reboot the system to "
        "recover this GPU\n"
        "0, 0 MiB\n1, 0 MiB\n3, 0 MiB\n",
        4);
    EXPECT_EQ(summary(host), "sick 0:clean 1:clean 2:sick 3:clean");
    EXPECT_EQ(find(host.findings, "count-mismatch"), nullptr);
}

TEST(SickGpu, SeveralFailedRowsStandInTheirOrder) {
    const auto host =
        expect_gpus("0, 0 MiB\n[GPU is lost], [GPU is lost]\n2, 0 MiB\n[GPU is lost], [GPU is lost]\n", 4);
    EXPECT_EQ(summary(host), "sick 0:clean 1:sick 2:clean 3:sick");
}

TEST(SickGpu, DoesNotExcuseAnotherOneThatIsMissing) {
    const auto host = expect_gpus(
        "0, 0 MiB\nUnable to determine the device handle for GPU 0000:0B:00.0: Unknown Error\n3, 0 MiB\n", 4);
    EXPECT_EQ(host.verdict, Verdict::unknown);
}

TEST(SickGpu, ThatOnlyProseNamesMakesTheHostSick) {
    const auto host =
        expect_gpus("0, 0 MiB\n1, 0 MiB\nWARNING: infoROM is corrupted at gpu 0000:86:00.0\n", 2);
    EXPECT_EQ(host.verdict, Verdict::sick);
    EXPECT_NE(find(host.findings, "inforom-corrupted"), nullptr);
}

TEST(SickGpu, IsTheOneThatTheBusIdNames) {
    const auto host = expect_gpus(
        "index, pci.bus_id, memory.used [MiB]\n0, 00000000:0B:00.0, 0 MiB\n1, 00000000:86:00.0, 0 MiB\n"
        "WARNING: infoROM is corrupted at gpu 0000:86:00.0\n",
        2);
    EXPECT_EQ(summary(host), "sick 0:clean 1:sick");
}

TEST(Unknown, IsWhateverIsNotAPlainNumber) {
    for (const auto* cell : {"[N/A]", "N/A", "[Not Supported]", "[Insufficient Permissions]", "-5 MiB",
                             "0.0 MiB", "1 GiB", "", "99999999999999999999 MiB", "O MiB"}) {
        const auto host = expect_gpus(fmt::format("0, {}\n", cell), 1);
        EXPECT_EQ(host.verdict, Verdict::unknown) << cell;
    }
}

TEST(Unknown, IsALineThatNobodyKnows) {
    const auto host = expect_gpus("0, 0 MiB\nGPU 0 has \x1b[31mproblems\n", 1);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    ASSERT_NE(find(host.findings, "unrecognised-line"), nullptr);
    EXPECT_EQ(find(host.findings, "unrecognised-line")->text.find('\x1b'), std::string::npos);
}

TEST(Unknown, IsNotRepeatedAThousandTimes) {
    std::string noise;
    for (int i = 0; i < 100'000; ++i) noise += fmt::format("noise {}\n", i);
    const auto host = expect_gpus(noise + "0, 0 MiB\n", 1);
    EXPECT_EQ(host.verdict, Verdict::unknown);
    EXPECT_LT(host.findings.size(), 12u);
    EXPECT_EQ(host.gpus.size(), 1u);
}

TEST(Limit, IsTheLastCleanValue) {
    EXPECT_EQ(expect_gpus("0, 100 MiB\n", 1).verdict, Verdict::clean);
    EXPECT_EQ(expect_gpus("0, 101 MiB\n", 1).verdict, Verdict::dirty);
    ParseOptions options;
    options.expect = 1;
    options.max_used = Mebibytes{0};
    EXPECT_EQ(judge_output("0, 0 MiB\n", options).verdict, Verdict::clean);
    EXPECT_EQ(judge_output("0, 1 MiB\n", options).verdict, Verdict::dirty);
}

TEST(Parse, OfAHeaderWithMemoryInAnotherUnitIsNeverClean) {
    for (const std::string unit : {"GiB", "KiB", "MB", "B", "%"})
        for (const auto& cell : {std::string("70"), "70 " + unit, std::string("70 MiB")}) {
            ParseOptions options;
            options.expect = 1;
            EXPECT_EQ(judge_output("index, memory.used [" + unit + "]\n0, " + cell + "\n", options).verdict,
                      Verdict::unknown)
                << unit << cell;
            options.columns = {"index", "memory.used [" + unit + "]"};
            EXPECT_EQ(judge_output("0, " + cell + "\n", options).verdict, Verdict::unknown) << unit << cell;
        }
}

}  // namespace
}  // namespace cleanslate::agentless
