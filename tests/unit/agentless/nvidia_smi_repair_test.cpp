#include "agentless/nvidia_smi_repair.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agentless/parse_input.hpp"

namespace cleanslate::agentless {
namespace {

HostVerdict expect_gpus(std::string_view text, int gpus) {
    ParseOptions options;
    options.expect = gpus;
    return judge_output(text, options);
}

HostVerdict expect_any(std::string_view text) {
    ParseOptions options;
    options.any = true;
    return judge_output(text, options);
}

std::string summary(const HostVerdict& host) {
    std::string line(to_string(host.verdict));
    for (const auto& gpu : host.gpus)
        line += fmt::format(" {}:{}{}", gpu.index ? std::to_string(*gpu.index) : "?", to_string(gpu.verdict),
                            gpu.repaired ? "(repaired)" : "");
    return line;
}

struct Fused {
    const char* first;
    const char* others;
    int expect;
    bool repaired;
};

TEST(FusedRow, IsRepairedOnlyWhereAPrintedPidLeavesExactlyTheMissingIndex) {
    const std::vector<Fused> cases{
        {" 77201 772010, 0 MiB\n", "1, 0 MiB\n", 2, true},
        {"77201 77202 772020, 0 MiB\n", "1, 0 MiB\n", 2, true},
        {"772 77201 772011, 0 MiB\n", "0, 0 MiB\n", 2, true},  // leaves 1, the missing one
        {"  843   928   9280, 0 MiB\r\n", "1, 0 MiB\r\n", 2, true},
        {"772010, 0 MiB\n", "1, 0 MiB\n", 2, false},                   // no pid was printed before
        {" 77202 772010, 0 MiB\n", "1, 0 MiB\n", 2, false},            // another pid was
        {" 77201 772012, 0 MiB\n", "1, 0 MiB\n", 2, false},            // leaves 2, missing is 0
        {" 77201 7720100, 0 MiB\n", "1, 0 MiB\n", 2, false},           // leaves 00
        {" 77201 77201, 0 MiB\n", "1, 0 MiB\n", 2, false},             // leaves nothing
        {" 77201 772010, 0 MiB\n", "1, 0 MiB\n", 3, false},            // two are missing
        {" 77201 772010, 0 MiB\n", "0, 0 MiB\n1, 0 MiB\n", 2, false},  // none is
        {" 77201 772010, 0 MiB\n", "1, 0 MiB\n1, 0 MiB\n", 3, false},
        {" 0 00, 0 MiB\n", "1, 0 MiB\n", 2, false},                // 0 is no pid
        {" 99999999 999999990, 0 MiB\n", "1, 0 MiB\n", 2, false},  // too high for a pid
    };
    for (const auto& c : cases) {
        const auto host = expect_gpus(std::string(c.first) + c.others, c.expect);
        bool repaired = false;
        for (const auto& gpu : host.gpus) repaired = repaired || gpu.repaired;
        EXPECT_EQ(repaired, c.repaired) << c.first;
        EXPECT_EQ(host.verdict, c.repaired ? Verdict::clean : Verdict::unknown) << c.first << summary(host);
    }
}

TEST(FusedRow, IsNeverRepairedInTheMiddle) {
    EXPECT_EQ(expect_gpus("0, 0 MiB\n 77201 772011, 0 MiB\n", 2).verdict, Verdict::unknown);
}

TEST(FusedRow, OfADirtyGpuIsDirtyUnderItsOwnIndex) {
    EXPECT_EQ(summary(expect_gpus(" 77201 772010, 76107 MiB\n1, 0 MiB\n", 2)),
              "dirty 0:dirty(repaired) 1:clean");
}

TEST(FusedRow, WithoutAnExpectedCountTakesTheRowsThereAre) {
    EXPECT_EQ(summary(expect_any(" 77201 772010, 0 MiB\n1, 0 MiB\n")), "clean 0:clean(repaired) 1:clean");
}

}  // namespace
}  // namespace cleanslate::agentless
