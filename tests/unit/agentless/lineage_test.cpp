#include "agentless/lineage.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless {
namespace {

Evidence family(std::vector<std::tuple<Pid, Pid, std::uint64_t>> pid_parent_start) {
    Evidence evidence;
    for (const auto& [pid, parent, start] : pid_parent_start) {
        Process process;
        process.key = {pid, start};
        process.parent = parent;
        evidence.processes.push_back(process);
    }
    return evidence;
}

std::vector<Pid> above(const Evidence& evidence, Pid pid) {
    std::vector<Pid> pids;
    for (const auto* p : Lineage(evidence).ancestors(*evidence.find(pid))) pids.push_back(p->key.pid);
    return pids;
}

TEST(Lineage, AncestorsComeNearestFirst) {
    const auto evidence = family({{1, 0, 1}, {20, 1, 5}, {30, 20, 6}, {31, 20, 7}});
    EXPECT_EQ(above(evidence, 30), (std::vector<Pid>{20, 1}));
    EXPECT_EQ(above(evidence, 1), std::vector<Pid>{});
}

TEST(Lineage, EndsWhereTheSurveyHasNoParent) {
    EXPECT_EQ(above(family({{30, 20, 6}}), 30), std::vector<Pid>{});
}

TEST(Lineage, WhatStartedLaterThanItsChildIsNotItsParent) {
    EXPECT_EQ(above(family({{1, 0, 1}, {20, 1, 9}, {30, 20, 6}}), 30), std::vector<Pid>{});
}

TEST(Lineage, AForgedLoopIsCut) {
    EXPECT_EQ(above(family({{10, 11, 5}, {11, 10, 5}}), 10), std::vector<Pid>{11});
    EXPECT_EQ(above(family({{10, 10, 5}}), 10), std::vector<Pid>{});
}

TEST(Lineage, AForgedChainIsBounded) {
    std::vector<std::tuple<Pid, Pid, std::uint64_t>> chain;
    for (Pid pid = 1; pid <= 5000; ++pid) chain.emplace_back(pid, pid - 1, 1);
    EXPECT_EQ(above(family(chain), 5000).size(), Lineage::deepest);
}

TEST(Lineage, OfTwoWithOnePidTheYoungerIsTakenWhateverTheirOrder) {
    Evidence evidence;
    for (const std::uint64_t start : {90U, 70U, 80U}) {
        Process p;
        p.key = {812, start};
        evidence.processes.push_back(p);
    }
    Lineage lineage(evidence);
    EXPECT_EQ(lineage.find(812)->key.start, 90U);
    EXPECT_TRUE(lineage.given_away(812));
    EXPECT_FALSE(lineage.given_away(813));
}

}  // namespace
}  // namespace cleanslate::agentless
