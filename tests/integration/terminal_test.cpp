// What an operator sees and does at a terminal: the plan and its question, Ctrl-C once and twice.

#include <csignal>

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

using namespace std::chrono_literals;

class AtATerminal : public ::testing::Test {
  protected:
    void up(const std::string& description) {
        fleet_.emplace(std::vector<std::string>{description});
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        operator_.emplace(*fleet_);
    }
    void SetUp() override { SKIP_WITHOUT_ROOT(); }
    std::unique_ptr<Terminal> open(const std::vector<std::string>& arguments) {
        return std::make_unique<Terminal>(operator_->command(arguments), operator_->environment());
    }
    std::optional<RunningFleet> fleet_;
    std::optional<Operator> operator_;
};

TEST_F(AtATerminal, APlanThatIsDeclinedSignalsNothing) {
    up("hosts/leak.host");
    const auto worker = fleet_->find("leak", "worker");
    const auto terminal = open({"clear", "-l", "all"});
    ASSERT_TRUE(terminal->wait_for("[y/N]")) << terminal->screen();
    EXPECT_NE(terminal->screen().find("alice"), std::string::npos) << terminal->screen();
    EXPECT_NE(terminal->screen().find("sglang"), std::string::npos) << terminal->screen();
    terminal->type("n\n");
    EXPECT_EQ(terminal->wait_end(), 1) << terminal->screen();
    EXPECT_TRUE(same(worker, fleet_->find("leak", "worker")));
}

TEST_F(AtATerminal, APlanThatIsAgreedToIsCarriedOut) {
    up("hosts/leak.host");
    const auto terminal = open({"clear", "-l", "all"});
    ASSERT_TRUE(terminal->wait_for("[y/N]")) << terminal->screen();
    terminal->type("y\n");
    EXPECT_EQ(terminal->wait_end(), 0) << terminal->screen();
}

TEST_F(AtATerminal, WhatIsTypedBeforeTheQuestionIsNoAnswerToIt) {
    up("hosts/leak.host");
    const auto terminal = open({"clear", "-l", "all"});
    terminal->type("\n");
    ASSERT_TRUE(terminal->wait_for("[y/N]")) << terminal->screen();
    terminal->type("y\n");
    EXPECT_EQ(terminal->wait_end(), 0) << terminal->screen();
}

TEST_F(AtATerminal, WhoAppearsBetweenThePlanAndTheYesIsNotSignalled) {
    up("hosts/leak.host");
    const auto terminal = open({"clear", "-l", "all"});
    ASSERT_TRUE(terminal->wait_for("[y/N]")) << terminal->screen();
    // Somebody opens a device file while the question waits.
    const auto started =
        fleet_->on("leak", "exec 9</dev/nvidia0; setsid sleep 86400 >/dev/null 2>&1 & echo $!");
    ASSERT_EQ(started.status, 0);
    terminal->type("y\n");
    EXPECT_EQ(terminal->wait_end(), 1) << terminal->screen();
    EXPECT_NE(terminal->screen().find("new-since-plan"), std::string::npos) << terminal->screen();
    const auto alive = fleet_->on("leak", "grep -l sleep /proc/[0-9]*/comm | wc -l");
    EXPECT_EQ(alive.out.substr(0, 1), "1") << alive.out;
}

TEST_F(AtATerminal, ThereIsNoQuestionWithoutATerminal) {
    up("hosts/leak.host");
    const auto worker = fleet_->find("leak", "worker");
    const auto ended = operator_->run({"clear", "-l", "all"});
    EXPECT_EQ(ended.status, 2) << ended.err;
    EXPECT_NE(ended.err.find("--yes"), std::string::npos) << ended.err;
    EXPECT_TRUE(same(worker, fleet_->find("leak", "worker")));
}

// gpu02's worker ignores TERM, so the first step is under way for ten seconds.
TEST_F(AtATerminal, TheFirstCtrlCNamesWhoIsUnfinishedAndTheStepUnderWayReports) {
    up("demo/hosts/gpu02.host");
    const auto terminal = open({"clear", "-l", "all", "--yes", "--color", "never"});
    ASSERT_TRUE(terminal->wait_for("TERM"));
    terminal->type("\x03");
    ASSERT_TRUE(terminal->wait_for("once more to cut them"));
    EXPECT_EQ(terminal->wait_end(), 130) << terminal->screen();
    EXPECT_NE(terminal->screen().find("TERM"), std::string::npos);
    EXPECT_NE(terminal->screen().find("gpu02 dirty"), std::string::npos) << terminal->screen();
    EXPECT_EQ(terminal->screen().find("KILL to"), std::string::npos) << "no new step after a Ctrl-C";
}

TEST_F(AtATerminal, TheSecondCtrlCCutsAndTheReportStillHasTheSignal) {
    up("demo/hosts/gpu02.host");
    const auto began = std::chrono::steady_clock::now();
    const auto terminal = open({"clear", "-l", "all", "--yes", "--format", "json"});
    ASSERT_TRUE(terminal->wait_for("TERM"));
    terminal->type("\x03");
    ASSERT_TRUE(terminal->wait_for("once more to cut them"));
    terminal->type("\x03");
    EXPECT_EQ(terminal->wait_end(), 130) << terminal->screen();
    EXPECT_LT(std::chrono::steady_clock::now() - began, 9s)
        << "the second Ctrl-C did not cut the step's ten seconds";
    EXPECT_NE(terminal->screen().find("\"signal\":\"TERM\""), std::string::npos) << terminal->screen();
    EXPECT_NE(terminal->screen().find("\"verdict\":\"unknown\""), std::string::npos) << terminal->screen();
}

}  // namespace
}  // namespace cleanslate::testing
