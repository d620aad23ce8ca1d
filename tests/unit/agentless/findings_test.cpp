#include "agentless/findings.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

std::string file(const std::string& name) {
    std::ifstream in(std::string(CLEANSLATE_SOURCE_DIR) + "/" + name);
    EXPECT_TRUE(in) << name;
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// The rows "| `code` | severity | meaning | evidence | remedy |".
std::map<std::string, std::vector<std::string>> documented() {
    std::map<std::string, std::vector<std::string>> rows;
    const std::string text = file("docs/findings.md");
    for (const auto line : split(text, '\n')) {
        if (!line.starts_with("| `")) continue;
        std::vector<std::string> cells;
        for (const auto cell : split(line, '|')) cells.emplace_back(trim(cell));
        EXPECT_EQ(cells.size(), 7u) << line;
        if (cells.size() == 7) rows[cells[1]] = {cells[2], cells[3], cells[4], cells[5]};
    }
    return rows;
}

TEST(FindingsPage, HasEveryCodeWithItsSeverityMeaningEvidenceAndRemedy) {
    auto rows = documented();
    for (const auto& kind : finding_kinds()) {
        const std::string code = "`" + std::string(kind.code) + "`";
        ASSERT_TRUE(rows.contains(code)) << "docs/findings.md lacks " << code;
        EXPECT_EQ(rows[code][0], severities_of(kind)) << code;
        EXPECT_EQ(rows[code][1], kind.meaning) << code;
        EXPECT_EQ(rows[code][2], kind.evidence) << code;
        EXPECT_EQ(rows[code][3], kind.remedy) << code;
        rows.erase(code);
    }
    for (const auto& [code, row] : rows)
        ADD_FAILURE() << "docs/findings.md has " << code << ", which no verdict has";
}

TEST(FindingKinds, HaveStableKebabCaseCodesOnce) {
    std::set<std::string_view> seen;
    for (const auto& kind : finding_kinds()) {
        EXPECT_TRUE(seen.insert(kind.code).second) << kind.code;
        EXPECT_EQ(kind.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos)
            << kind.code;
        EXPECT_FALSE(kind.meaning.empty()) << kind.code;
        EXPECT_FALSE(kind.evidence.empty()) << kind.code;
    }
}

TEST(Finding, OfAnUnlistedCodeIsUnknown) {
    EXPECT_EQ(finding("never-heard-of", "x").severity, Severity::unknown);
}

TEST(Finding, IsShortAndPrintable) {
    const auto made = finding("opener", "\x1b[31m" + std::string(100'000, 'x'));
    EXPECT_EQ(made.text.find('\x1b'), std::string::npos);
    EXPECT_LE(made.text.size(), 400u);
}

TEST(Findings, FoldWhatRepeats) {
    std::vector<Finding> out;
    {
        Findings findings(out);
        for (int i = 0; i < 100; ++i) findings.add(finding("no-row", std::to_string(i)));
        for (int i = 0; i < 100; ++i) findings.add(finding("opener", "the same"));
    }
    ASSERT_EQ(out.size(), 6u);
    EXPECT_EQ(out[3].text, "3");
    EXPECT_EQ(out[4].code, "opener");
    EXPECT_EQ(out[5].code, "no-row");
    EXPECT_EQ(out[5].text, "and 96 more of the kind");
}

TEST(Names, OfManyHoldersAreCut) {
    std::vector<Holder> holders(5);
    for (int i = 0; i < 5; ++i) {
        holders[static_cast<std::size_t>(i)].key.pid = 70 + i;
        holders[static_cast<std::size_t>(i)].exe = "/usr/bin/sleep";
    }
    std::vector<const Holder*> all;
    for (const auto& holder : holders) all.push_back(&holder);
    EXPECT_EQ(names_of(all), "pid 70 (sleep), pid 71 (sleep), pid 72 (sleep) and 2 more");
    holders[0].exe.reset();
    EXPECT_EQ(names_of({&holders[0]}), "pid 70");
}

}  // namespace
}  // namespace cleanslate::agentless
