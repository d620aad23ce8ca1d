// What a person said yes to is what was listed: also what comes after the kills.

#include <algorithm>

#include "transcript.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using testing::ended;
using testing::Scene;
using testing::Transcript;
using namespace std::chrono_literals;
using Kind = CommandAction::Kind;

Scene sick_gpu_0(Scene scene) {
    scene.evidence().gpus[0].cells[5] = "[GPU requires reset]";
    scene.evidence().nvswitches = 4;
    return scene;
}

// GPU 0 asks for a reset; GPU 2, a peer behind the same switches, is held.
Scene sick_with_a_peer_in_use() { return sick_gpu_0(Scene(8).holder(812, 2, 76107)); }

Scene sick_alone() { return sick_gpu_0(Scene(8)); }

constexpr const char* kill_then_cure =
    "steps:\n"
    "  - signal: KILL\n"
    "    match: {holding: gpu}\n"
    "  - reset: {daemons: [nvidia-persistenced.service], within: 0s}\n"
    "  - reboot: {}\n";

class APlanOfCures : public Transcript {
  protected:
    void plan(const Scene& scene) {
        job_.dry_run = job_.allow_reset = job_.allow_reboot = true;
        use(kill_then_cure);
        expect_survey(scene);
        expect_finish(outcome_.last->verdict);
    }
    const CommandAction* reset_of(int gpu) const {
        const auto found = std::ranges::find(outcome_.commands, "nvidia-smi --gpu-reset -i " + bus_of(gpu),
                                             &CommandAction::command);
        return found == outcome_.commands.end() ? nullptr : &*found;
    }
};

TEST_F(APlanOfCures, CountsAsGoneWhomTheStepsBeforeWouldEnd) {
    plan(sick_with_a_peer_in_use());
    const CommandAction* reset = reset_of(0);
    ASSERT_NE(reset, nullptr);
    EXPECT_TRUE(reset->planned && reset->conditional && !reset->withheld);
    EXPECT_TRUE(reset->about.starts_with("only if it is still needed after step 1: GPU 0: sick"))
        << reset->about;
    EXPECT_NE(reset->about.find("nvidia-persistenced.service"), std::string::npos);
    EXPECT_FALSE(has_finding("reset-withheld"));
    ASSERT_NE(reset_of(2), nullptr) << "its memory may stay without a holder";
    EXPECT_TRUE(reset_of(2)->conditional);
    EXPECT_EQ(reset_of(1), nullptr);
    EXPECT_EQ(outcome_.commands.back().command, "reboot");
    EXPECT_TRUE(outcome_.commands.back().conditional);
    ASSERT_TRUE(outcome_.plan);
    EXPECT_EQ(outcome_.plan->resets, (std::set<std::string>{bus_of(0), bus_of(2)}));
    EXPECT_TRUE(outcome_.plan->reboot);
}

TEST_F(APlanOfCures, WithNothingBeforeItIsNoneForAnotherCase) {
    plan(sick_alone());
    ASSERT_NE(reset_of(0), nullptr);
    EXPECT_TRUE(reset_of(0)->planned);
    EXPECT_FALSE(reset_of(0)->conditional);
    EXPECT_TRUE(outcome_.commands.back().conditional) << "the reset may cure it";
}

TEST_F(APlanOfCures, CountsNobodyAsGoneWhoIsLeftAlone) {
    plan(sick_with_a_peer_in_use().in_cgroup(812, "/slurm/uid_1000/job_4242/step_0"));
    EXPECT_EQ(reset_of(0), nullptr);
    EXPECT_TRUE(has_finding("reset-withheld", "GPU 0 would not be reset"));
    EXPECT_TRUE(!outcome_.plan || outcome_.plan->resets.empty());
}

TEST_F(APlanOfCures, WithTooManyTargetsHasNone) {
    job_.max_kills = 0;
    plan(sick_with_a_peer_in_use());
    for (const auto& action : outcome_.commands) EXPECT_FALSE(action.planned) << action.command;
    EXPECT_FALSE(outcome_.plan && (outcome_.plan->reboot || !outcome_.plan->resets.empty()));
}

class AYes : public Transcript {
  protected:
    void agree(std::set<std::string> resets, bool reboot) {
        Consent consent;
        consent.boot_id = Scene(8).evidence().boot_id;
        consent.listed = {{812, 8120}};
        consent.resets = std::move(resets);
        consent.reboot = reboot;
        task_.consent = consent;
        job_.allow_reset = job_.allow_reboot = true;
        use(kill_then_cure);
        expect_survey(sick_with_a_peer_in_use());
        expect_signal("KILL", {812}, ended, 20ms);
        expect_survey(sick_alone());
    }
};

TEST_F(AYes, ToNoResetCoversNone) {
    agree({}, false);
    const Move move = next();
    EXPECT_FALSE(std::holds_alternative<ResetGpus>(move) || std::holds_alternative<AwaitReboot>(move))
        << move.index();
    EXPECT_TRUE(has_finding("reset-withheld", "GPU 0 was not reset: not in the plan that was agreed to"));
    EXPECT_TRUE(has_finding("reboot-withheld", "not in the plan that was agreed to"));
}

TEST_F(AYes, CoversTheGpusThatWereListed) {
    agree({bus_of(0)}, false);
    const Move move = next();
    const auto* reset = std::get_if<ResetGpus>(&move);
    ASSERT_NE(reset, nullptr) << move.index();
    EXPECT_EQ(reset->request.bus_ids, std::vector{bus_of(0)});
}

TEST_F(AYes, ToAnotherGpuCoversNotThisOne) {
    agree({bus_of(5)}, false);
    EXPECT_FALSE(std::holds_alternative<ResetGpus>(next()));
}

TEST_F(AYes, CoversTheRebootThatWasListed) {
    agree({}, true);
    EXPECT_TRUE(std::holds_alternative<AwaitReboot>(next()));
}

TEST_F(Transcript, AUserOfWhomNobodyIsSeenIsNamed) {
    use("steps:\n"
        "  - signal: TERM\n"
        "    match: {holding: gpu, user: [alic]}\n");
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(has_finding("user-not-seen", "no process of user alic was seen here"));
    EXPECT_TRUE(outcome_.signals.empty());
}

}  // namespace
}  // namespace cleanslate::agentless
