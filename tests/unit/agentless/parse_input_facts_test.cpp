// What nvidia-smi is known to print, kind by kind: texts in, verdicts out.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agentless/parse_input.hpp"

namespace cleanslate::agentless {
namespace {

std::string uuid_of(int gpu) { return fmt::format("GPU-00000000-1111-2222-3333-{:012}", gpu); }

std::string core(const std::string& index, int gpu, const std::string& used = "0 MiB") {
    return fmt::format("{}, {}, 00000000:{:02X}:00.0, {}, 143771 MiB, 35, P0, NVIDIA H200\n", index,
                       uuid_of(gpu), gpu + 16, used);
}
std::string core(int gpu, const std::string& used = "0 MiB") { return core(std::to_string(gpu), gpu, used); }

HostVerdict judged(std::string_view text, int gpus, std::optional<int> status = {}) {
    ParseOptions options;
    options.expect = gpus;
    options.exit_status = status;
    return judge_output(text, options);
}

std::string summary(const HostVerdict& host) {
    std::string line(to_string(host.verdict));
    for (const auto& gpu : host.gpus)
        line += fmt::format(" {}:{}", gpu.index ? std::to_string(*gpu.index) : "?", to_string(gpu.verdict));
    return line;
}

bool has(const HostVerdict& host, std::string_view code) {
    for (const auto& found : host.findings)
        if (found.code == code) return true;
    for (const auto& gpu : host.gpus)
        for (const auto& found : gpu.findings)
            if (found.code == code) return true;
    return false;
}

TEST(Rows, OfACleanHostAreCleanInAnyOrderAndEachLineEnding) {
    EXPECT_EQ(summary(judged(core(0) + core(1) + core(2), 3)), "clean 0:clean 1:clean 2:clean");
    EXPECT_EQ(summary(judged(core(2) + core(0) + core(1), 3)), "clean 0:clean 1:clean 2:clean");
    std::string crlf = "\xEF\xBB\xBF";
    for (const char c : core(0) + core(1)) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    EXPECT_EQ(summary(judged(crlf, 2)), "clean 0:clean 1:clean");
    EXPECT_EQ(judged(core(0) + core(1), 2).findings.size(), 1u);  // holders-not-shown and nothing else
}

TEST(Rows, ThatAreMissingDoubledOrCutAreNeverClean) {
    const std::string all = core(0) + core(1) + core(2);
    for (int gone = 0; gone < 3; ++gone) {
        std::string rest;
        for (int i = 0; i < 3; ++i)
            if (i != gone) rest += core(i);
        EXPECT_EQ(judged(rest, 3).verdict, Verdict::unknown) << gone;
        EXPECT_EQ(judged(all + core(gone), 3).verdict, Verdict::unknown) << gone;
        EXPECT_EQ(judged(rest + core(gone == 0 ? 1 : 0), 3).verdict, Verdict::unknown) << gone;
    }
    for (std::size_t cut = 0; cut < all.size(); ++cut)
        EXPECT_EQ(judged(all.substr(0, cut), 3).verdict, Verdict::unknown) << all.substr(0, cut);
}

// A terminal or a mail program breaks a row: nothing is put together again.
TEST(Rows, ThatWereWrappedAreUnknown) {
    const std::string row = core(1);
    for (std::size_t at = 1; at + 2 < row.size(); ++at) {
        if (at >= row.size() - 12) continue;  // the name, see below
        const auto host = judged(core(0) + row.substr(0, at) + "\n" + row.substr(at), 2);
        EXPECT_EQ(host.verdict, Verdict::unknown) << row.substr(0, at);
    }
    EXPECT_TRUE(
        has(judged(core(0) + "1, " + core(1).substr(3, 90) + "\nNVIDIA\nH200\n", 2), "unrecognised-line"));
}

TEST(Numbers, ThatAreNotPlainAreNoNumbers) {
    for (const auto* used : {"-1 MiB", "+1 MiB", "0.5 MiB", "1.000 MiB", "1 000 MiB", "1'000 MiB", "0x0 MiB",
                             "00 MiB", "0 KiB", "0 GiB", "0MiB", "MiB", "18446744073709551616 MiB",
                             "99999999999999999999999", "1e1", "O MiB", "\xd9\xa0 MiB", "NaN", "-"}) {
        EXPECT_EQ(judged(core(0, used), 1).verdict, Verdict::unknown) << used;
        EXPECT_EQ(judged(fmt::format("0, {}\n", used), 1).verdict, Verdict::unknown) << used;
    }
    EXPECT_EQ(judged(core(0, "1,000 MiB"), 1).verdict, Verdict::unknown);
    for (const auto* index :
         {"-0", "00", "+0", "0.0", "1024", "99999999999999999999", "0x0", "O", "[N/A]", ""})
        EXPECT_EQ(judged(core(index, 0), 1).verdict, Verdict::unknown) << index;
}

TEST(Bytes, ThatAreNoTextMakeARowUnknownWhereverTheyStand) {
    const std::string row = core(0);
    for (const std::string& bad : {std::string(1, '\0'), std::string("\xff"), std::string("\xc0\x80"),
                                   std::string("\x1b"), std::string("\xE2\x80\x8B")})
        for (std::size_t at = 0; at < row.size(); ++at) {
            std::string text = row;
            text.insert(at, bad);
            EXPECT_EQ(judged(text, 1).verdict, Verdict::unknown) << at;
            text = row;
            if (at + 1 < row.size()) text.replace(at, 1, bad);
            EXPECT_NE(judged(text, at + 1 < row.size() ? 1 : 2).verdict, Verdict::clean) << at;
        }
}

TEST(MessageOfTheDay, InFrontIsNoRowAndNotIgnored) {
    const auto host = judged(
        "Welcome to Ubuntu 24.04.3 LTS\n\n * Documentation:  https://help.ubuntu.com\n"
        "Last login: Sun Nov 29 12:00:00 2026 from 192.0.2.7\n" +
            core(0) + core(1),
        2);
    EXPECT_EQ(summary(host), "unknown 0:clean 1:clean");
    EXPECT_TRUE(has(host, "unrecognised-line"));
}

TEST(Pids, FusedToTheFirstRowOfTheCoreQueryAreTakenOff) {
    const auto host = judged(core(" 843 928 8430", 0) + core(1), 2);
    EXPECT_EQ(summary(host), "clean 0:clean 1:clean");
    EXPECT_TRUE(host.gpus.at(0).repaired);
    EXPECT_EQ(judged(core(" 843 928 9990", 0) + core(1), 2).verdict, Verdict::unknown);
    EXPECT_EQ(judged(core(0) + core(" 843 928 8431", 1), 2).verdict, Verdict::unknown);
}

struct FailedCell {
    const char* text;
    Verdict verdict;
    const char* code;
};
const std::vector<FailedCell> failed_cells{
    {"[Unknown Error]", Verdict::sick, "gpu-unknown-error"},
    {"Unknown Error", Verdict::sick, "gpu-unknown-error"},
    {"ERR!", Verdict::sick, "gpu-unknown-error"},
    {"[GPU requires reset]", Verdict::sick, "gpu-requires-reset"},
    {"[GPU is lost]", Verdict::sick, "gpu-lost"},
    {"[Insufficient Permissions]", Verdict::unknown, "permission-refused"},
};

TEST(FailedCell, DecidesWhereverInTheRowItStands) {
    for (const auto& failed : failed_cells)
        for (std::size_t column = 0; column < 8; ++column) {
            std::string row;
            for (std::size_t i = 0; i < 8; ++i) {
                const std::string good[]{"1",  uuid_of(1), "00000000:11:00.0", "0 MiB", "143771 MiB",
                                         "35", "P0",       "NVIDIA H200"};
                row += (i == 0 ? "" : ", ") + (i == column ? failed.text : good[i]);
            }
            const auto host = judged(core(0) + row + "\n" + core(2), 3);
            EXPECT_EQ(host.verdict, failed.verdict) << row;
            EXPECT_TRUE(has(host, failed.code)) << row;
            EXPECT_EQ(host.gpus.at(0).verdict, Verdict::clean) << row;
            EXPECT_EQ(host.gpus.at(2).verdict, Verdict::clean) << row;
        }
}

TEST(CellThatIsNotSupported, IsHarmlessWhereNothingRestsOnIt) {
    for (const auto* cell : {"N/A", "[N/A]", "[Not Supported]",
                             "[Requested functionality has been deprecated]", "[Function Not Found]"}) {
        const std::string header = "index, memory.used [MiB], fan.speed [%], retired_pages.pending\n";
        EXPECT_EQ(judged(header + fmt::format("0, 0 MiB, {}, {}\n", cell, cell), 1).verdict, Verdict::clean);
        EXPECT_EQ(judged(header + fmt::format("0, {}, 0 %, No\n", cell), 1).verdict, Verdict::unknown);
        EXPECT_EQ(judged(header + fmt::format("{}, 0 MiB, 0 %, No\n", cell), 1).verdict, Verdict::unknown);
    }
}

TEST(FailedGpu, IsNamedByProseOfAnyFormWithItsRowOrWithout) {
    const std::string none =
        "[Unknown Error], [Unknown Error], [Unknown Error], [Unknown Error], [Unknown "
        "Error], [Unknown Error], [Unknown Error], [Unknown Error]\n";
    for (const auto* prose :
         {"Unable to determine the device handle for GPU 0000:11:00.0: Unknown Error\n",
          "Unable to determine the device handle for gpu 0000:11:00.0: Unknown Error\n",
          "Unable to determine the device handle for GPU0000:11:00.0: Unknown Error\n",
          "Unable to determine the device handle for GPU1: 0000:11:00.0: Unknown Error\n",
          "Unable to determine the device handle for GPU 0000:11:00.0: GPU is lost.  Reboot "
          "the system to recover this GPU\n",
          "Unable to determine the device handle for GPU 0000:11:00.0: GPU is lost.  Reboot "
          "the\nsystem to recover this GPU\n"})
        for (const auto& text : {prose + core(0) + none + core(2), core(0) + prose + none + core(2),
                                 core(0) + none + core(2) + prose, prose + core(0) + core(2)}) {
            const auto host = judged(text, 3, 255);
            EXPECT_EQ(summary(host), "sick 0:clean 1:sick 2:clean") << text;
            EXPECT_EQ(host.gpus.at(1).bus_id, "00000000:11:00.0");
            EXPECT_FALSE(has(host, "unrecognised-line"));
        }
}

struct WholeFailure {
    const char* text;
    int status;
    const char* code;
};
const std::vector<WholeFailure> whole_failures{
    {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
     "latest "
     "NVIDIA driver is installed and running.\n\n",
     9, "driver-not-loaded"},
    {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
     "latest "
     "NVIDIA driver is installed and running. This can also be happening if non-NVIDIA GPU is running as "
     "primary display, and NVIDIA GPU is in WDDM mode.\n\n",
     9, "driver-not-loaded"},
    {"Failed to initialize NVML: Driver/library version mismatch\n", 18, "driver-mismatch"},
    {"Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.129\n", 18,
     "driver-mismatch"},
    {"Failed to initialize NVML: Unknown Error\n", 255, "container-device-cgroup"},
    {"Failed to initialize NVML: Insufficient Permissions\n", 4, "permission-refused"},
    {"Failed to initialize NVML: Driver Not Loaded\n", 9, "driver-not-loaded"},
    {"NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA "
     "Display Driver is properly installed and present in your system.\nPlease also try adding directory "
     "that "
     "contains libnvidia-ml.so to your system PATH.\n",
     12, "nvml-missing"},
    {"No devices were found\n", 6, "no-devices"},
    {"Field \"no.such.field\" is not a valid field to query.\n\n", 2, "unknown-field"},
    {"Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n", 2, "bad-arguments"},
    {"Option --query-gpux is not recognized. Please run 'nvidia-smi -h'.\n", 2, "bad-arguments"},
    {"bash: line 1: nvidia-smi: command not found\n", 127, "nvidia-smi-missing"},
};

TEST(FailureOfTheWholeCommand, IsUnknownAndNamedAndLeavesNoLineOver) {
    for (const auto& failure : whole_failures) {
        const std::string text = failure.text;
        for (const auto& output :
             {text, text + core(0) + core(1), core(0) + text + core(1), core(0) + core(1) + text})
            for (const auto status : {std::optional<int>(), std::optional<int>(0), {failure.status}}) {
                const auto host = judged(output, 2, status);
                EXPECT_EQ(host.verdict, Verdict::unknown) << output;
                EXPECT_TRUE(has(host, failure.code)) << output;
                EXPECT_FALSE(has(host, "unrecognised-line")) << output;
            }
    }
}

TEST(ExitStatus, IsJudgedOnlyWhereItWasObserved) {
    const std::string clean = core(0) + core(1);
    EXPECT_EQ(judged(clean, 2).verdict, Verdict::clean);
    EXPECT_EQ(judged(clean, 2, 0).verdict, Verdict::clean);
    const std::vector<std::pair<int, const char*>> statuses{
        {2, "bad-arguments"},        {3, "not-available"},      {4, "permission-refused"},
        {6, "no-devices"},           {8, "power-cable"},        {9, "driver-not-loaded"},
        {10, "driver-interrupt"},    {12, "nvml-missing"},      {13, "not-implemented"},
        {14, "nvidia-smi-failed"},   {15, "nvidia-smi-failed"}, {18, "driver-mismatch"},
        {77, "nvidia-smi-failed"},   {124, "driver-hung"},      {126, "nvidia-smi-missing"},
        {127, "nvidia-smi-missing"}, {137, "driver-hung"},      {255, "nvidia-smi-failed"}};
    for (const auto& [status, code] : statuses) {
        const auto host = judged(clean, 2, status);
        EXPECT_EQ(host.verdict, Verdict::unknown) << status;
        EXPECT_TRUE(has(host, code)) << status;
    }
}

TEST(ExitStatus, IsExplainedBySickGpusThatAreNamedInFull) {
    const std::string warning = "WARNING: infoROM is corrupted at gpu 0000:11:00.0\n";
    EXPECT_EQ(summary(judged(core(0) + core(1) + warning, 2, 14)), "sick 0:clean 1:sick");
    EXPECT_EQ(judged(core(0) + core(1) + warning, 3, 14).verdict, Verdict::unknown);
    EXPECT_EQ(judged(core(0) + core(1) + warning, 2, 9).verdict, Verdict::unknown);
    EXPECT_EQ(judged(core(0) + core(1) + warning + "what is this\n", 2, 14).verdict, Verdict::unknown);
    const std::string lost =
        "Unable to determine the device handle for GPU 0000:11:00.0: GPU is lost.  Reboot "
        "the system to recover this GPU\n";
    EXPECT_EQ(summary(judged(core(0) + lost, 2, 15)), "sick 0:clean 1:sick");
    EXPECT_EQ(judged(core(0) + lost, 3, 15).verdict, Verdict::unknown);
}

TEST(ExitStatus, OfAHostWithoutGpusIsNoNews) {
    EXPECT_EQ(judged("No devices were found\n", 0, 6).verdict, Verdict::clean);
    EXPECT_EQ(judged("No devices were found\n", 1, 6).verdict, Verdict::unknown);
    EXPECT_EQ(judged("", 0, 6).verdict, Verdict::unknown);
}

const std::string wide =
    "index, memory.used [MiB], temperature.gpu, pstate, gpu_recovery_action, mig.mode.current, "
    "driver_version\n";

TEST(OptionalColumns, OfAWideTableCountWhereTheySaySick) {
    EXPECT_EQ(summary(judged(wide + "0, 0 MiB, 35, P0, None, Disabled, 580.1\n", 1)), "clean 0:clean");
    const auto reset = judged(wide + "0, 0 MiB, 35, P0, GPU Reset, Disabled, 580.1\n", 1);
    EXPECT_EQ(summary(reset), "sick 0:sick");
    EXPECT_TRUE(has(reset, "recovery-action"));
    EXPECT_EQ(judged(wide + "0, 0 MiB, 35, P0, None, [Unknown Error], 580.1\n", 1).verdict, Verdict::sick);
}

TEST(OptionalColumns, ThatSayNothingKnownCostOnlyThemselves) {
    for (const auto* cell : {"[Something new]", "Half", "[N/A]"})
        EXPECT_EQ(summary(judged(wide + fmt::format("0, 0 MiB, 35, P0, None, {}, 580.1\n", cell), 1)),
                  "clean 0:clean")
            << cell;
}

// In one row with what the verdict rests on, a refusal may be one of the whole row.
TEST(OptionalColumns, ThatWereRefusedMakeTheirRowUnknown) {
    const auto host = judged(wide + "0, 0 MiB, 35, P0, None, [Insufficient Permissions], 580.1\n", 1);
    EXPECT_EQ(summary(host), "unknown 0:unknown");
    EXPECT_TRUE(has(host, "permission-refused"));
}

TEST(DriverVersion, OfAWideTableIsKnownWhereAllRowsThatShowOneAgree) {
    const auto version = [&](std::vector<std::string> versions) {
        std::string text = wide;
        int index = 0;
        for (const auto& shown : versions)
            text += fmt::format("{}, 0 MiB, 35, P0, None, Disabled, {}\n", index++, shown);
        return evidence_from_table(read_gpu_table(text, {})).driver_version;
    };
    EXPECT_EQ(version({"470.57.02"}), "470.57.02");
    EXPECT_EQ(version({"470.57.02", "470.57.02", "[Unknown Error]"}), "470.57.02");
    EXPECT_EQ(version({"470.57.02", "580.1"}), "");
    EXPECT_EQ(version({"[N/A]"}), "");
    EXPECT_EQ(version({}), "");
}

TEST(DriverVersion, BeforeFiveHundredAndTenRaisesTheLimit) {
    EXPECT_EQ(judged(wide + "0, 300 MiB, 35, P0, None, Disabled, 470.57.02\n", 1).verdict, Verdict::clean);
    EXPECT_EQ(judged(wide + "0, 300 MiB, 35, P0, None, Disabled, 580.1\n", 1).verdict, Verdict::dirty);
    EXPECT_EQ(judged(wide + "0, 300 MiB, 35, P0, None, Disabled, [N/A]\n", 1).verdict, Verdict::dirty);
}

TEST(Baseline, IsTheLimitOfTheGpuThatItNames) {
    Baseline baseline;
    baseline.gpus[uuid_of(0)] = {"gpu01", 0, Mebibytes{290}, "580.1"};
    ParseOptions options;
    options.expect = 1;
    options.baseline = std::make_shared<const Baseline>(baseline);
    EXPECT_EQ(judge_output(core(0, "340 MiB"), options).verdict, Verdict::clean);
    EXPECT_EQ(judge_output(core(0, "341 MiB"), options).verdict, Verdict::dirty);
    EXPECT_EQ(judge_output(core("0", 1, "340 MiB"), options).verdict, Verdict::dirty);
}

TEST(AHundredMegabytes, OfNoiseAreJudgedUnknown) {
    ParseOptions options;
    options.expect = 1;
    OutputJudge judge(options);
    std::string piece;
    while (piece.size() < (1 << 20)) piece += std::string(500, 'z') + "\n";
    for (int i = 0; i < 100; ++i) judge.feed(piece);
    judge.feed("0, 0 MiB\n");
    EXPECT_LE(judge.held(), 1'000'000u);
    const auto host = judge.finish();
    EXPECT_EQ(summary(host), "unknown 0:clean");
    EXPECT_TRUE(has(host, "output-too-long"));
}

}  // namespace
}  // namespace cleanslate::agentless
