// -H beside ClusterShell's nodeset and Slurm's scontrol, on the cases of node_sets.txt.
#include <gtest/gtest.h>

#include <map>

#include "inventory/inventory.hpp"
#include "inventory/node_set.hpp"
#include "oracles.hpp"

namespace cleanslate::inventory::testing {
namespace {

// Nothing where it is an error.
std::optional<Names> ours(const std::string& text) {
    const auto inventory = Inventory::from_targets(text);
    if (!inventory) return std::nullopt;
    Names names;
    for (const auto& host : inventory->hosts()) names.push_back(host.name);
    return sorted(std::move(names));
}

const std::vector<Names>& cases() {
    static const auto all = cases_of("node_sets.txt");
    return all;
}

// What ClusterShell says to each line: names, a node set, or that it refuses.
Names ask_clustershell(const std::string& python, const Names& lines, const std::string& option = {}) {
    std::vector<std::string> argv{python, beside_sources("clustershell.py")};
    if (!option.empty()) argv.push_back(option);
    const Ended ended = call(argv, joined(lines, '\n') + "\n");
    EXPECT_EQ(ended.status, 0) << ended.err;
    return words(ended.out, '\n');
}

std::optional<Names> names_in(const std::string& answer) {
    if (!answer.starts_with('=')) return std::nullopt;
    return sorted(words(std::string_view(answer).substr(1), '\t'));
}

TEST(NodeSets, AreAtLeastTwoHundredCasesEachOnce) {
    std::map<std::string, int> seen;
    for (const auto& cells : cases()) {
        ASSERT_GE(cells.size(), cells.size() > 1 && cells[1] == "both" ? 2U : 3U)
            << cells[0] << ": no reason";
        EXPECT_EQ(++seen[cells[0]], 1) << cells[0];
    }
    EXPECT_GE(seen.size(), 200U);
}

TEST(NodeSets, AreRefusedWhereTheListSaysSo) {
    for (const auto& cells : cases())
        EXPECT_EQ(!ours(cells[0]).has_value(), cells[1] == "refused") << cells[0];
}

TEST(NodeSets, AreReadAsClusterShellReadsThem) {
    const auto python = python_with("ClusterShell.NodeSet");
    if (python.empty()) GTEST_SKIP() << "no ClusterShell here: Debian's clustershell has it";
    Names texts;
    for (const auto& cells : cases()) texts.push_back(cells[0]);
    const Names answers = ask_clustershell(python, texts);
    ASSERT_EQ(answers.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto& who = cases()[i][1];
        const bool same = ours(texts[i]) == names_in(answers[i]);
        if (who == "refused") continue;
        EXPECT_EQ(same, who == "both" || who == "nodeset") << texts[i] << ": " << answers[i];
    }
}

TEST(NodeSets, AreReadAsSlurmReadsThem) {
    const Scontrol scontrol;
    if (!scontrol.runs()) GTEST_SKIP() << "no scontrol here: ./dev test fetches it";
    for (const auto& cells : cases()) {
        if (cells[1] == "refused") continue;
        const auto theirs = scontrol.hostnames(cells[0]);
        EXPECT_EQ(ours(cells[0]) == theirs, cells[1] == "both" || cells[1] == "slurm")
            << cells[0] << ": " << (theirs ? joined(*theirs, ' ') : "refused");
    }
}

// The names of every case that others read, too.
std::vector<Names> agreed_names(const std::string& who) {
    std::vector<Names> all;
    for (const auto& cells : cases()) {
        if (cells[1] != "both" && cells[1] != who) continue;
        if (const auto names = ours(cells[0])) all.push_back(*names);
    }
    return all;
}

TEST(NodeSets, FoldedHereAreReadByClusterShellAndTheOtherWayRound) {
    const auto python = python_with("ClusterShell.NodeSet");
    if (python.empty()) GTEST_SKIP() << "no ClusterShell here: Debian's clustershell has it";
    const auto all = agreed_names("nodeset");
    Names folded, listed;
    for (const auto& names : all) {
        folded.push_back(fold(names));
        listed.push_back(joined(names, ' '));
    }
    const Names unfolded = ask_clustershell(python, folded);
    const Names theirs = ask_clustershell(python, listed, "--fold");
    ASSERT_EQ(unfolded.size(), all.size());
    ASSERT_EQ(theirs.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(names_in(unfolded[i]), all[i]) << folded[i];
        EXPECT_EQ(ours(theirs[i]), all[i]) << theirs[i];
    }
}

TEST(NodeSets, FoldedHereAreReadBySlurmAndTheOtherWayRound) {
    const Scontrol scontrol;
    if (!scontrol.runs()) GTEST_SKIP() << "no scontrol here: ./dev test fetches it";
    for (const auto& names : agreed_names("slurm")) {
        // One that ends in text has its own form for Slurm: --clean-hosts slurm=FILE.
        const auto text_last = [](const std::string& name) { return std::isdigit(name.back()) == 0; };
        if (std::ranges::none_of(names, text_last)) {
            EXPECT_EQ(scontrol.hostnames(fold(names)), names);
        }
        EXPECT_EQ(ours(scontrol.hostlist(names)), names);
    }
}

TEST(NodeSets, AreReadAsTheProgramNodesetReadsThem) {
    if (::access("/usr/bin/nodeset", X_OK) != 0) GTEST_SKIP() << "no nodeset here";
    for (const std::string text : {"n[001-003,7]", "r[1-2]n[01-04]!r1n[01-02]"}) {
        const Ended ended = call({"/usr/bin/nodeset", "-e", "-S", "\n", text});
        EXPECT_EQ(sorted(words(ended.out, '\n')), ours(text)) << ended.err;
        const Ended folded = call({"/usr/bin/nodeset", "-f", fold(*ours(text))});
        EXPECT_EQ(ours(std::string(trim(folded.out))), ours(text)) << folded.err;
    }
}

}  // namespace
}  // namespace cleanslate::inventory::testing
