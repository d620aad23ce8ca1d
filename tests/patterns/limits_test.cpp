// -l beside Ansible's --limit, on the cases of limits.txt and the inventories beside it.
#include <gtest/gtest.h>

#include <map>

#include "inventory/inventory.hpp"
#include "oracles.hpp"

namespace cleanslate::inventory::testing {
namespace {

struct Case {
    std::string inventory, limit;
    std::string how;  // same, refused (there is an error here alone), differs
    std::string reason;
};

const std::vector<Case>& cases() {
    static const auto all = [] {
        std::vector<Case> read;
        for (const auto& cells : cases_of("limits.txt"))
            read.push_back({cells.at(0), cells.at(1), cells.at(2), cells.size() > 3 ? cells[3] : ""});
        return read;
    }();
    return all;
}

// Nothing where it is an error.
std::optional<Names> ours(const Case& one) {
    static std::map<std::string, Inventory> known;
    if (!known.contains(one.inventory))
        known.emplace(one.inventory, Inventory::load(beside_sources(one.inventory)).value());
    const auto hosts = known.at(one.inventory).select(one.limit);
    if (!hosts) return std::nullopt;
    Names names;
    for (const auto& host : *hosts) names.push_back(host.name);
    return sorted(std::move(names));
}

TEST(Limits, AreAtLeastSixtyCasesEachOnceAndEachDifferenceWithItsReason) {
    std::map<std::string, int> seen;
    for (const Case& one : cases()) {
        EXPECT_EQ(++seen[one.inventory + " " + one.limit], 1) << one.limit;
        EXPECT_TRUE(one.how == "same" || one.how == "refused" || one.how == "differs") << one.limit;
        EXPECT_EQ(one.reason.empty(), one.how == "same") << one.limit;
    }
    EXPECT_GE(seen.size(), 60U);
}

TEST(Limits, AreRefusedWhereTheListSaysSo) {
    for (const Case& one : cases()) EXPECT_EQ(!ours(one).has_value(), one.how == "refused") << one.limit;
}

TEST(Limits, SelectWhatAnsibleSelects) {
    const auto python = python_with("ansible.inventory.manager");
    if (python.empty()) GTEST_SKIP() << "no Ansible here: Debian's ansible-core has it";
    std::string lines;
    for (const Case& one : cases()) lines += one.inventory + "\t" + one.limit + "\n";
    const Ended ended = call({python, beside_sources("ansible_patterns.py"), beside_sources("")}, lines);
    const auto answers = words(ended.out, '\n');
    ASSERT_EQ(answers.size(), cases().size()) << ended.err;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const Case& one = cases()[i];
        if (one.how == "refused") continue;
        std::optional<Names> theirs;
        if (answers[i].starts_with('=')) theirs = sorted(words(answers[i].substr(1), '\t'));
        EXPECT_EQ(ours(one) == theirs, one.how == "same")
            << one.inventory << " " << one.limit << ": " << joined(*ours(one), ' ') << " and " << answers[i];
    }
}

// The lines of `ansible --list-hosts` but the first, which counts them.
Names listed_by_program(const Case& one) {
    const Ended ended = call({"/usr/bin/ansible", "all", "-i", beside_sources(one.inventory), "--limit",
                              one.limit, "--list-hosts"});
    Names names;
    for (const auto line : split(ended.out, '\n'))
        if (line.starts_with("    ")) names.emplace_back(trim(line));
    EXPECT_FALSE(names.empty()) << ended.err;
    return sorted(std::move(names));
}

TEST(Limits, SelectWhatTheProgramAnsibleLists) {
    if (::access("/usr/bin/ansible", X_OK) != 0)
        GTEST_SKIP() << "no ansible here: Debian's ansible-core has it";
    for (const Case& one :
         {Case{"racks.yaml", "gpu:&h200:!gpu05", "", ""}, Case{"racks.yaml", "rack1[1:2],~login", "", ""},
          Case{"sites.yaml", "*.east.*:!east_b", "", ""}})
        EXPECT_EQ(listed_by_program(one), ours(one)) << one.limit;
}

}  // namespace
}  // namespace cleanslate::inventory::testing
