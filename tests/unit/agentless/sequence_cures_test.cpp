// Reset and reboot: withheld without their flag, and what is made of what came of them.

#include "transcript.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using testing::ended;
using testing::Scene;
using testing::Transcript;
using namespace std::chrono_literals;
using Kind = CommandAction::Kind;

// Memory on GPU 2 that nobody holds.
Scene ownerless() {
    Scene scene = Scene(8).used(2, 76107);
    scene.evidence().nvswitches = 0;
    return scene;
}

constexpr const char* reset =
    "steps:\n"
    "  - reset: {daemons: [dcgm.service], within: 1s}\n"
    "  - verify: {within: 0s}\n";

TEST_F(Transcript, AGpuIsNotResetUnlessThePersonAllowsIt) {
    use(reset);
    expect_survey(ownerless());
    expect_finish(Verdict::dirty);
    EXPECT_EQ(locks_, 0);
    EXPECT_TRUE(has_finding("reset-withheld", "GPU 2 was not reset: --allow-reset was not given"));
    ASSERT_EQ(outcome_.commands.size(), 1u);
    EXPECT_TRUE(outcome_.commands[0].withheld);
    EXPECT_FALSE(outcome_.commands[0].planned);
}

class AReset : public Transcript {
  protected:
    void SetUp() override {
        job_.allow_reset = true;
        use(reset);
        expect_survey(ownerless());
        const Move move = next();
        ASSERT_TRUE(std::holds_alternative<ResetGpus>(move)) << move.index();
        move_ = std::get<ResetGpus>(move);
    }
    ResetGpus move_;
};

TEST_F(AReset, NamesGpusAndDaemonsAndIsFollowedByAWholeLook) {
    EXPECT_EQ(locks_, 1);
    EXPECT_EQ(move_.request.bus_ids, std::vector{bus_of(2)});
    EXPECT_EQ(move_.request.daemons, std::vector<std::string>{"dcgm.service"});
    EXPECT_EQ(move_.request.boot_id, "11111111-2222-3333-4444-555555555555");
    EXPECT_NE(outcome_.commands.at(0).about.find("dcgm.service"), std::string::npos);
    ResetReport report;
    report.complete = true;
    report.units = {{"dcgm.service", true, 0, 0}, {"nvsm.service", false, {}, {}}};
    report.gpus = {{bus_of(2), 0, "GPU was successfully reset."}};
    sequence_->gpus_reset(move_, report, now_ += 3s);
    expect_survey(Scene(8));
    EXPECT_TRUE(asked_.optional_evidence);
    expect_survey(Scene(8), std::chrono::duration_cast<Milliseconds>(now_ - start_) - 50ms + 2s);
    expect_finish(Verdict::clean);
    ASSERT_EQ(outcome_.commands.size(), 3u);
    EXPECT_TRUE(outcome_.commands[0].ok);
    EXPECT_EQ(outcome_.commands[1].command, "systemctl stop dcgm.service");
    EXPECT_EQ(outcome_.commands[2].command, "systemctl start dcgm.service");
}

TEST_F(AReset, OfCleanGpusWhoseDaemonDoesNotRunAgainLeavesTheHostUnknown) {
    ResetReport report;
    report.complete = true;
    report.units = {{"dcgm.service", true, 0, 1}};
    report.gpus = {{bus_of(2), 0, "GPU was successfully reset."}};
    sequence_->gpus_reset(move_, report, now_ += 3s);
    expect_survey(Scene(8));
    expect_survey(Scene(8), std::chrono::duration_cast<Milliseconds>(now_ - start_) - 50ms + 2s);
    expect_finish(Verdict::unknown);
    EXPECT_TRUE(has_finding("daemon-not-restarted", "dcgm.service"));
}

TEST_F(AReset, RefusedIsAFindingAndADaemonThatStaysDownIsAnother) {
    ResetReport report;
    report.complete = true;
    report.units = {{"dcgm.service", true, 0, 1}};
    report.gpus = {{bus_of(2), 255, "GPU is In use by another client"}};
    sequence_->gpus_reset(move_, report, now_ += 3s);
    expect_survey(ownerless());
    expect_finish(Verdict::unknown);
    EXPECT_TRUE(has_finding("reset-in-use", "GPU 2"));
    EXPECT_TRUE(has_finding("daemon-not-restarted", "dcgm.service"));
    EXPECT_FALSE(outcome_.commands.at(0).ok);
}

TEST_F(AReset, OfAHostThatHasBootedSinceIsNoneAndTheHostIsLookedAtAgain) {
    ResetReport report;
    report.complete = report.other_boot = true;
    sequence_->gpus_reset(move_, report, now_);
    expect_survey(ownerless());
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.commands.at(0).not_sent);
    EXPECT_TRUE(has_finding("reset-withheld", "it has booted since the survey"));
}

TEST_F(AReset, CutInTheMiddleLeavesTheHostUnknown) {
    sequence_->gpus_reset(move_, ResetReport{}, now_ += 3s);
    expect_finish(Verdict::unknown);
    EXPECT_FALSE(outcome_.commands.at(0).ran_to_end);
    EXPECT_FALSE(outcome_.commands.at(0).not_sent);
}

TEST_F(Transcript, MemoryThatMayStillComeBackIsWaitedForBeforeAReset) {
    job_.allow_reset = true;
    use("steps:\n"
        "  - signal: KILL\n"
        "    match: {holding: gpu}\n"
        "  - reset: {within: 1s}\n");
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("KILL", {812}, ended, 20ms);
    expect_survey(ownerless());
    int looks = 0;
    Move move = next();
    for (; std::holds_alternative<TakeSurvey>(move); move = next()) {
        now_ = std::max(now_, std::get<TakeSurvey>(move).not_before);
        sequence_->surveyed(ownerless().evidence(), now_, now_);
        ASSERT_LT(++looks, 50);
    }
    EXPECT_TRUE(std::holds_alternative<ResetGpus>(move)) << move.index();
    EXPECT_GT(looks, 1);
    EXPECT_GE(now_ - start_, 1070ms);
}

constexpr const char* reboot =
    "steps:\n"
    "  - reboot: {deadline: 10m}\n"
    "  - verify: {within: 0s}\n";

TEST_F(Transcript, AHostIsNotRebootedUnlessThePersonAllowsIt) {
    use(reboot);
    expect_survey(ownerless());
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(has_finding("reboot-withheld", "--allow-reboot was not given"));
    EXPECT_TRUE(outcome_.commands.at(0).withheld);
}

constexpr const char* reboot_for_gpu_2 =
    "steps:\n"
    "  - reboot: {deadline: 10m}\n"
    "  - verify: {gpus: [2], within: 0s}\n";

// Judged by GPU 2 alone, the host is somebody else's, too.
TEST_F(Transcript, AHostIsNotRebootedForSomeGpusWhileTheOthersAreInUse) {
    job_.allow_reboot = true;
    use(reboot_for_gpu_2);
    auto scene = ownerless();
    scene.holder(812, 5, 9000);
    expect_survey(scene);
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(has_finding("reboot-withheld", "GPU 5 is none of the playbook's, and dirty"));
}

TEST_F(Transcript, AHostIsNotRebootedForSomeGpusWhileSomebodyHasTheOthersOpen) {
    job_.allow_reboot = true;
    use(reboot_for_gpu_2);
    auto scene = ownerless();
    scene.opener(812);
    scene.get(812).open_minors = {5};
    scene.get(812).mapped_minors.clear();
    expect_survey(scene);
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(has_finding("reboot-withheld", "pid 812 (python3.11) uses GPU 5"));
}

TEST_F(Transcript, AHostIsRebootedForSomeGpusWhereTheOthersAreClean) {
    job_.allow_reboot = true;
    use(reboot_for_gpu_2);
    expect_survey(ownerless());
    EXPECT_TRUE(std::holds_alternative<AwaitReboot>(next()));
}

class AReboot : public Transcript {
  protected:
    void SetUp() override {
        job_.allow_reboot = true;
        use(reboot);
        expect_survey(ownerless());
        ASSERT_TRUE(std::holds_alternative<AwaitReboot>(next()));
    }
    void expect_reboot() {
        const Move move = next();
        ASSERT_TRUE(std::holds_alternative<Reboot>(move)) << move.index();
        move_ = std::get<Reboot>(move);
        EXPECT_EQ(move_.boot_id, "11111111-2222-3333-4444-555555555555");
        EXPECT_EQ(move_.deadline, 10min);
    }
    Scene after_boot(Scene scene) {
        scene.evidence().boot_id = "99999999-2222-3333-4444-555555555555";
        return scene;
    }
    Reboot move_;
};

TEST_F(AReboot, GoesOnWithFreshEvidenceAndALockOfItsOwn) {
    sequence_->reboot_place(false);
    expect_reboot();
    now_ += 2min;
    sequence_->rebooted(move_, now_);
    sequence_->surveyed(after_boot(Scene(8)).evidence(), now_, now_ + 50ms);
    now_ += 50ms;
    expect_survey(after_boot(Scene(8)), std::chrono::duration_cast<Milliseconds>(now_ - start_) + 11'950ms);
    expect_finish(Verdict::clean);
    EXPECT_TRUE(outcome_.commands.at(0).ok);
    EXPECT_EQ(outcome_.boot_id, "99999999-2222-3333-4444-555555555555");
}

TEST_F(AReboot, IsDecidedAgainAfterItHadToWaitForItsPlace) {
    sequence_->reboot_place(true);
    expect_survey(Scene(8).holder(900, 1, 500).in_cgroup(900, "/slurm/uid_1000/job_4242/step_0"));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(has_finding("reboot-withheld"));
}

TEST_F(AReboot, ThatNobodyGetsAPlaceForIsLeftOutWhenTheSweepWindsDown) {
    sequence_->wind_down();
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.commands.empty());
}

TEST_F(AReboot, ThatTheHostDoesNotBeginIsNamedWithItsReason) {
    sequence_->reboot_place(false);
    expect_reboot();
    sequence_->reboot_refused(move_, {true, false, "inhibited by \x1b[1mpid 7"});
    expect_survey(ownerless());
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(has_finding("reboot-withheld", "inhibited by"));
    EXPECT_FALSE(has_finding("reboot-withheld", "\x1b"));
}

TEST_F(AReboot, ThatDoesNotEndLeavesTheHostUnknown) {
    sequence_->reboot_place(false);
    expect_reboot();
    sequence_->not_back(move_, {"connect_refused", "connect", "connection refused", ""});
    expect_finish(Verdict::unknown);
    EXPECT_TRUE(has_finding("reboot-failed", "within 10m"));
    EXPECT_TRUE(has_finding("reboot-failed", "connection refused"));
}

TEST_F(Transcript, PidsOfTheBootBeforeAreNobodysAfterwards) {
    job_.allow_reboot = true;
    use("steps:\n"
        "  - signal: KILL\n"
        "    match: {holding: gpu}\n"
        "    wait: 1s\n"
        "  - reboot: {}\n");
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("KILL", {812}, testing::alive, 1s);
    expect_survey(Scene(8).holder(812, 2, 76107).state(812, 'D'));
    ASSERT_TRUE(std::holds_alternative<AwaitReboot>(next()));
    sequence_->reboot_place(false);
    const Move move = next();
    ASSERT_TRUE(std::holds_alternative<Reboot>(move));
    sequence_->rebooted(std::get<Reboot>(move), now_);
    Scene other = Scene(8).process(812, 1, "cron").used(2, 500);  // the same pid and start time by chance
    other.evidence().boot_id = "99999999-2222-3333-4444-555555555555";
    sequence_->surveyed(other.evidence(), now_, now_);
    Move last = next();
    for (; std::holds_alternative<TakeSurvey>(last); last = next()) {
        now_ = std::max(now_, std::get<TakeSurvey>(last).not_before);
        sequence_->surveyed(other.evidence(), now_, now_);
        ASSERT_LT(now_ - start_, 60s);
    }
    EXPECT_FALSE(has_finding("survived-kill"));
    EXPECT_FALSE(has_finding("unkillable"));
}

}  // namespace
}  // namespace cleanslate::agentless
