#include "agentless/baseline.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::string_view good =
    "# recorded on a Sunday\n"
    "version: 1\n"
    "gpus:\n"
    "  GPU-00000000-1111-2222-3333-44444444444a: {host: gpu01, index: 0, used_mib: 4, driver: "
    "\"580.95.05\"}\n"
    "  GPU-00000000-1111-2222-3333-44444444444b: {host: gpu01, index: 1, used_mib: 51}\n";

std::string refusal(std::string_view text) {
    const auto read = parse_baseline(text, "idle.yaml");
    if (read) return "";
    EXPECT_EQ(read.error().kind, "baseline") << text;
    return read.error().remedy.empty() ? read.error().message
                                       : read.error().message + " | " + read.error().remedy;
}

// The file with one GPU whose mapping is `gpu`.
std::string one(std::string_view gpu) {
    return fmt::format("version: 1\ngpus:\n  GPU-00000000-1111-2222-3333-44444444444a: {}\n", gpu);
}

TEST(ParseBaseline, ReadsWhatWasRecorded) {
    const auto baseline = parse_baseline(good, "idle.yaml");
    ASSERT_TRUE(baseline) << baseline.error().message;
    ASSERT_EQ(baseline->gpus.size(), 2u);
    EXPECT_EQ(baseline->margin, Mebibytes{50});
    const auto& first = baseline->gpus.at("GPU-00000000-1111-2222-3333-44444444444a");
    EXPECT_EQ(first.host, "gpu01");
    EXPECT_EQ(first.index, 0);
    EXPECT_EQ(first.used, Mebibytes{4});
    EXPECT_EQ(first.driver, "580.95.05");
    EXPECT_EQ(baseline->gpus.at("GPU-00000000-1111-2222-3333-44444444444b").driver, "");
}

TEST(ParseBaseline, NamesThePlaceOfWhatIsWrong) {
    EXPECT_EQ(refusal("version: 1\ngpu: {}\n"), "idle.yaml:2:1: unknown key gpu | did you mean gpus?");
    EXPECT_EQ(refusal(one("{host: a, index: 0, used: 4}")),
              "idle.yaml:3:65: unknown key used | known are host, index, used_mib, driver");
    EXPECT_EQ(refusal(one("{host: a, index: 0, used_mb: 4}")),
              "idle.yaml:3:65: unknown key used_mb | did you mean used_mib?");
    EXPECT_EQ(refusal(one("{host: a, index: 0}")), "idle.yaml:3:45: no used_mib for this GPU");
    EXPECT_EQ(refusal(one("{index: 0, used_mib: 4}")), "idle.yaml:3:45: no host for this GPU");
    EXPECT_EQ(refusal(one("4")).substr(0, 15), "idle.yaml:3:45:");
    EXPECT_EQ(refusal("version: 2\ngpus: {}\n"),
              "idle.yaml:1:10: version 2 is not known to this program | version 1 is");
}

TEST(ParseBaseline, RefusesNumbersThatAreNoneOrOutOfRange) {
    for (const auto* used : {"-1", "16777217", "99999999999999999999", "4.0", "4 MiB", "'4'", "0x10", "010",
                             "", "[4]", "true", "1e3"})
        EXPECT_NE(refusal(one(fmt::format("{{host: a, index: 0, used_mib: {}}}", used))), "") << used;
    for (const auto* index : {"-1", "1024", "one", ""})
        EXPECT_NE(refusal(one(fmt::format("{{host: a, index: {}, used_mib: 4}}", index))), "") << index;
    EXPECT_EQ(refusal(one("{host: a, index: 1023, used_mib: 16777216}")), "");
}

TEST(ParseBaseline, RefusesAUuidTwice) {
    const auto twice =
        std::string(good) +
        "  GPU-00000000-1111-2222-3333-44444444444a: {host: gpu02, index: 0, used_mib: 1000}\n";
    EXPECT_EQ(refusal(twice).substr(0, 14), "idle.yaml:6:3:");
}

TEST(ParseBaseline, RefusesWhatIsNoUuid) {
    for (const auto* name : {"0", "gpu01", "GPU-", "GPU-a b", "GPU-00000000-1111-2222-3333-44444444444g",
                             "\"GPU-a\\nb\"", "\"GPU-\\e[2J\""})
        EXPECT_NE(refusal(fmt::format("version: 1\ngpus:\n  {}: {{host: a, index: 0, used_mib: 4}}\n", name)),
                  "")
            << name;
}

TEST(ParseBaseline, RefusesWhatRecordsNothing) {
    for (const auto* text :
         {"", "# nothing\n", "version: 1\n", "version: 1\ngpus:\n", "version: 1\ngpus: {}\n",
          "version: 1\ngpus: []\n", "[]\n", "gpus: {}\n", "all:\n  hosts:\n    gpu01:\n"})
        EXPECT_EQ(refusal(text).substr(0, 10), "idle.yaml:") << text;
}

TEST(ParseBaseline, SurvivesWhatIsNoYaml) {
    for (const auto* text : {"version: [1", "\xff\xfe", "version: 1\ngpus: *nobody\n", "a: b: c", "\x01"})
        EXPECT_NE(refusal(text), "") << text;
    EXPECT_NE(refusal(std::string_view("version: 1\0", 11)), "");
}

TEST(ParseBaseline, BoundsTextsAndTheirNumber) {
    EXPECT_NE(refusal(one(fmt::format("{{host: {}, index: 0, used_mib: 4}}", std::string(256, 'h')))), "");
    std::string many = "version: 1\ngpus: {0";
    for (int i = 1; i <= 100'000; ++i) many += fmt::format(",{}", i);
    EXPECT_EQ(refusal(many + "}"), "idle.yaml:2:7: more than 100000 GPUs");
}

TEST(WriteBaseline, WritesWhatIsReadBack) {
    Baseline baseline;
    baseline.gpus["GPU-00000000-1111-2222-3333-44444444444c"] = {"gpu02", 0, Mebibytes{0}, ""};
    baseline.gpus["GPU-00000000-1111-2222-3333-44444444444a"] = {"gpu02", 1, Mebibytes{308}, "470.57.02"};
    baseline.gpus["GPU-00000000-1111-2222-3333-44444444444b"] = {"::1", 7, Mebibytes{51}, "580.95.05"};
    const std::string text = write_baseline(baseline, "recorded\nby hand");
    EXPECT_EQ(text,
              "# recorded\\x0Aby hand\n"
              "version: 1\n"
              "gpus:\n"
              "  GPU-00000000-1111-2222-3333-44444444444b: {host: \"::1\", index: 7, used_mib: 51, driver: "
              "\"580.95.05\"}\n"
              "  GPU-00000000-1111-2222-3333-44444444444c: {host: \"gpu02\", index: 0, used_mib: 0}\n"
              "  GPU-00000000-1111-2222-3333-44444444444a: {host: \"gpu02\", index: 1, used_mib: 308, "
              "driver: \"470.57.02\"}\n");
    const auto again = parse_baseline(text, "idle.yaml");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(write_baseline(*again, "recorded\nby hand"), text);
}

TEST(WriteBaseline, WritesWhatTheDocumentationShows) {
    const auto page = read_file(CLEANSLATE_SOURCE_DIR "/docs/baseline.md", 1U << 20).value();
    const auto begin = page.find("```yaml\n") + 8;
    const auto text = page.substr(begin, page.find("```", begin) - begin);
    const auto shown = parse_baseline(text, "docs/baseline.md");
    ASSERT_TRUE(shown) << shown.error().message;
    EXPECT_EQ(write_baseline(*shown, text.substr(2, text.find('\n') - 2)), text);
}

TEST(WriteBaseline, LetsNoTextBreakOut) {
    Baseline baseline;
    const std::string evil = "x\", used_mib: 0}\n  GPU-z: {host: \\ \x1b[2J\xff";
    baseline.gpus["GPU-00000000-1111-2222-3333-44444444444a"] = {evil, 0, Mebibytes{4}, evil};
    const auto again = parse_baseline(write_baseline(baseline, evil), "idle.yaml");
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(again->gpus.size(), 1u);
    EXPECT_EQ(again->gpus.at("GPU-00000000-1111-2222-3333-44444444444a").used, Mebibytes{4});
    EXPECT_EQ(again->gpus.at("GPU-00000000-1111-2222-3333-44444444444a").host,
              "x\", used_mib: 0}\\x0A  GPU-z: {host: \\ \\x1B[2J\\xFF");
}

TEST(ParseBaseline, TakesAUuidInCapitalsForTheSame) {
    const std::string low = "GPU-00000000-1111-2222-3333-44444444abcd";
    const std::string high = "GPU-00000000-1111-2222-3333-44444444ABCD";
    const std::string entry = ": {host: gpu01, index: 0, used_mib: 4}\n";
    const auto baseline = parse_baseline("version: 1\ngpus:\n  " + high + entry, "idle.yaml");
    ASSERT_TRUE(baseline) << baseline.error().message;
    EXPECT_TRUE(baseline->gpus.contains(low));
    EXPECT_EQ(refusal("version: 1\ngpus:\n  " + low + entry + "  " + high + entry),
              "idle.yaml:4:3: " + high + " is there twice");
}

}  // namespace
}  // namespace cleanslate::agentless
