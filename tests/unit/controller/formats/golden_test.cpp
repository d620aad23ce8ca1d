// Each form of one report in which everything is said, byte for byte: tests/golden.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "../golden_report.hpp"
#include "outside.hpp"

namespace cleanslate::controller::testing {
namespace {

struct Golden {
    std::string file;
    Format format = Format::text;
    Rendering rendering = {};
};

// The first line in which they differ, with both.
std::string difference(const std::string& golden, const std::string& written) {
    std::istringstream one(golden), other(written);
    std::string expected, found;
    for (std::size_t line = 1;; ++line) {
        const bool is_there = static_cast<bool>(std::getline(one, expected));
        const bool was_written = static_cast<bool>(std::getline(other, found));
        if (!is_there && !was_written) return "they differ in the last line's end";
        if (is_there && was_written && expected == found) continue;
        return fmt::format("line {}:\n  golden:  {}\n  written: {}", line,
                           is_there ? expected : "(there is none)", was_written ? found : "(there is none)");
    }
}

void expect_golden(const std::string& name, const std::string& written) {
    const std::string file = std::string(CLEANSLATE_SOURCE_DIR) + "/tests/golden/" + name;
    const std::string golden = contents_of(file);
    if (golden == written) return;
    if (std::getenv("CLEANSLATE_UPDATE_GOLDEN") != nullptr) {
        put(file, written);
        ADD_FAILURE() << name << " is written anew: read what has changed, and run the test again";
        return;
    }
    ADD_FAILURE() << name << ": " << difference(golden, written)
                  << "\nCLEANSLATE_UPDATE_GOLDEN=1 writes it anew";
}

TEST(GoldenFiles, AreWhatEachFormSays) {
    Rendering narrow, wide;
    narrow.elsewhere = {"html: fleet.html", "prom: /var/lib/node_exporter/cleanslate.prom"};
    wide.columns = 200;
    const std::vector<Golden> all{
        {"report.txt", Format::text, narrow}, {"report.wide.txt", Format::text, wide},
        {"report.json", Format::json, {}},    {"report.jsonl", Format::jsonl, {}},
        {"report.csv", Format::csv, {}},      {"report.xml", Format::junit, {}},
        {"report.prom", Format::prom, {}}};
    for (const Golden& golden : all)
        expect_golden(golden.file, rendered(golden_report(), golden.format, golden.rendering));
}

TEST(GoldenFiles, AreWhatEachFormSaysOfARun) {
    expect_golden("run.txt", rendered(golden_run(), Format::text));
    expect_golden("run.json", rendered(golden_run(), Format::json));
    expect_golden("run.jsonl", rendered(golden_run(), Format::jsonl));
    expect_golden("run.xml", rendered(golden_run(), Format::junit));
}

}  // namespace
}  // namespace cleanslate::controller::testing
