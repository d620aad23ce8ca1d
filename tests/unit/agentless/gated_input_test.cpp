#include "agentless/gated_input.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cleanslate::agentless {
namespace {

using Leave = Script::Warden::Leave;

struct Porter : Script::Warden {
    Leave asked(const std::function<void()>& wake) override {
        ++questions;
        waker = wake;
        return leave;
    }
    void passed() override { ++passes; }
    Leave leave = Leave::give;
    int questions = 0, passes = 0;
    std::function<void()> waker;
};

class GatedInputTest : public ::testing::Test {
  protected:
    void gate(std::string answer = "secret") {
        script.input = "exit 0\n";
        script.gate = Script::Gate{"marker-1f", "prompt-1f:", std::move(answer), porter};
        input = std::make_unique<GatedInput>(script, [this] { ++wakes; });
        input->look(output);
    }
    void out(const std::string& text) {
        output.out += text;
        input->look(output);
    }
    void err(const std::string& text) {
        output.err += text;
        input->look(output);
    }
    // All that may be sent now, which is sent.
    std::string take() {
        std::string all;
        while (!input->ready().empty()) {
            all += input->ready()[0];
            input->sent(1);
        }
        return all;
    }
    Script script;
    std::shared_ptr<Porter> porter = std::make_shared<Porter>();
    std::unique_ptr<GatedInput> input;
    RunOutput output;
    int wakes = 0;
};

TEST_F(GatedInputTest, WithoutAGateEverythingIsReadyAtOnce) {
    script.input = "exit 0\n";
    input = std::make_unique<GatedInput>(script, [] {});
    out("marker-1f\n");
    EXPECT_EQ(take(), "exit 0\n");
    EXPECT_TRUE(input->ended());
    EXPECT_EQ(output.out, "marker-1f\n");
    EXPECT_TRUE(output.gate_passed);
}

TEST_F(GatedInputTest, NothingIsReadyBeforeTheMarkersLineEnds) {
    gate();
    for (const char c : std::string("hello\nmarker-1f")) {
        out(std::string(1, c));
        EXPECT_EQ(take(), "");
        EXPECT_FALSE(output.gate_passed);
        EXPECT_FALSE(input->ended());
    }
    out("\nrest");
    EXPECT_TRUE(output.gate_passed);
    EXPECT_EQ(output.out, "hello\nrest");
    EXPECT_EQ(take(), "exit 0\n");
    EXPECT_TRUE(input->ended());
    EXPECT_EQ(porter->passes, 1);
}

TEST_F(GatedInputTest, AMarkerThatIsNotAWholeLineOrOnTheOtherStreamOpensNothing) {
    gate();
    out("xmarker-1f\nmarker-1f \n marker-1f\nmarker-1f\r\nmarker-1\nmarker-1ff\n");
    err("marker-1f\n");
    EXPECT_FALSE(output.gate_passed);
    EXPECT_EQ(take(), "");
    EXPECT_EQ(output.out, "xmarker-1f\nmarker-1f \n marker-1f\nmarker-1f\r\nmarker-1\nmarker-1ff\n");
}

TEST_F(GatedInputTest, APromptIsAnsweredOnce) {
    gate();
    err("sudo: noise\nprompt-1f:");
    EXPECT_TRUE(output.gate_asked);
    EXPECT_EQ(output.err, "sudo: noise\n");
    EXPECT_EQ(take(), "secret\n");
    EXPECT_FALSE(input->ended()) << "the marker may still come";
    out("marker-1f\n");
    EXPECT_EQ(take(), "exit 0\n");
}

TEST_F(GatedInputTest, TheSecondPromptEndsTheInputForGood) {
    gate();
    err("prompt-1f:");
    EXPECT_EQ(take(), "secret\n");
    err("\nSorry, try again.\nprompt-1f:");
    EXPECT_TRUE(output.gate_refused);
    EXPECT_TRUE(input->ended());
    out("marker-1f\n");
    EXPECT_EQ(take(), "") << "no marker opens what was closed";
    EXPECT_FALSE(output.gate_passed);
    EXPECT_EQ(porter->passes, 0);
    EXPECT_EQ(output.err, "\nSorry, try again.\n");
}

TEST_F(GatedInputTest, AFloodOfPromptsGetsNoAnswer) {
    gate();
    std::string flood;
    for (int i = 0; i < 10000; ++i) flood += "prompt-1f:";
    err(flood);
    EXPECT_EQ(take(), "");
    EXPECT_TRUE(output.gate_refused);
    EXPECT_TRUE(input->ended());
}

TEST_F(GatedInputTest, APromptWithoutAnAnswerEndsTheInput) {
    gate("");
    err("prompt-1f:");
    EXPECT_TRUE(output.gate_asked);
    EXPECT_TRUE(output.gate_refused);
    EXPECT_TRUE(input->ended());
    EXPECT_EQ(take(), "");
}

TEST_F(GatedInputTest, APromptOnStdoutIsNoPrompt) {
    gate();
    out("prompt-1f:\n");
    EXPECT_FALSE(output.gate_asked);
    EXPECT_EQ(take(), "");
}

TEST_F(GatedInputTest, WithoutAPromptNothingIsAsked) {
    gate();
    script.gate->prompt.clear();
    err("prompt-1f:");
    EXPECT_FALSE(output.gate_asked);
}

// A fingerprint was enough, say: the shell behind the gate would take the answer for a command.
TEST_F(GatedInputTest, AnAnswerThatWasNotSentWhenTheMarkerCameIsNotSentAnyMore) {
    gate();
    err("prompt-1f:");
    out("marker-1f\n");
    EXPECT_EQ(take(), "exit 0\n");
}

TEST_F(GatedInputTest, AnAnswerOnItsWayIsSentToItsEnd) {
    gate();
    err("prompt-1f:");
    input->sent(3);
    out("marker-1f\n");
    EXPECT_EQ(take(), "ret\nexit 0\n");
}

TEST_F(GatedInputTest, TheWardenMayLetItWaitAndIsAskedAgain) {
    porter->leave = Leave::wait;
    gate();
    err("prompt-1f:");
    EXPECT_EQ(take(), "");
    EXPECT_FALSE(input->ended());
    porter->waker();
    EXPECT_EQ(wakes, 1);
    porter->leave = Leave::give;
    input->look(output);
    EXPECT_EQ(take(), "secret\n");
    EXPECT_EQ(porter->questions, 2);
    input->look(output);
    EXPECT_EQ(porter->questions, 2) << "asked once more than needed";
}

TEST_F(GatedInputTest, TheWardenMayWithholdTheAnswer) {
    porter->leave = Leave::withhold;
    gate();
    err("prompt-1f:");
    EXPECT_EQ(take(), "");
    EXPECT_TRUE(output.gate_refused);
    EXPECT_TRUE(input->ended());
}

TEST_F(GatedInputTest, ASecondPromptWhileItWaitsMeansThatNobodyIsAskedAgain) {
    porter->leave = Leave::wait;
    gate();
    err("prompt-1f:");
    err("prompt-1f:");
    porter->leave = Leave::give;
    input->look(output);
    EXPECT_EQ(take(), "");
    EXPECT_EQ(porter->questions, 1);
}

TEST_F(GatedInputTest, HowTheOutputIsCutIntoPiecesChangesNothing) {
    const std::string all_out = "motd\n\nmarker-1\nmarker-1f\nbegin\nmarker-1f\n";
    const std::string all_err = "prompt-1prompt-1f:err";
    std::mt19937 random(4);
    for (int round = 0; round < 300; ++round) {
        output = {};
        gate();
        std::string sent;
        for (std::size_t i = 0; i < all_err.size();) {
            const std::size_t count = 1 + random() % 7;
            err(all_err.substr(i, count));
            i += count;
            sent += take();
        }
        for (std::size_t i = 0; i < all_out.size();) {
            const std::size_t count = 1 + random() % 13;
            out(all_out.substr(i, count));
            i += count;
            sent += take();
        }
        EXPECT_EQ(sent, "secret\nexit 0\n");
        EXPECT_EQ(output.out, "motd\n\nmarker-1\nbegin\nmarker-1f\n");
        EXPECT_EQ(output.err, "prompt-1err");
    }
}

}  // namespace
}  // namespace cleanslate::agentless
