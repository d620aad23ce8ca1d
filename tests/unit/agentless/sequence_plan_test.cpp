// The dry run: every step of the playbook with what it would do now, and nothing done.

#include <algorithm>

#include "transcript.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;
using testing::Transcript;
using namespace std::chrono_literals;
using Kind = CommandAction::Kind;

constexpr const char* everything =
    "steps:\n"
    "  - run: check drained\n"
    "    when: before\n"
    "  - stop: [units]\n"
    "    match: {holding: gpu}\n"
    "  - signal: TERM\n"
    "    match: {holding: gpu}\n"
    "  - reset: {}\n"
    "  - reboot: {}\n"
    "  - clean_shm: {names: ['nccl-*']}\n"
    "  - verify: {within: 1s}\n"
    "  - run: write marker\n"
    "    when: after\n";

class APlan : public Transcript {
  protected:
    void SetUp() override {
        job_.dry_run = true;
        lock_is_free_ = false;  // a lock asked for is a move that no test here expects
    }
    const PlannedStep& step(int number) const {
        return outcome_.plan_steps.at(static_cast<std::size_t>(number) - 1);
    }
    const CommandAction& command(int number) const {
        return outcome_.commands.at(step(number).commands.at(0));
    }
    bool notes(int number, std::string_view part) const {
        return std::ranges::any_of(step(number).notes, [&](const std::string& note) {
            return note.find(part) != std::string::npos;
        });
    }
};

Scene served() {
    Scene scene = Scene(8).holder(812, 2, 76107).in_cgroup(812, "/system.slice/model-server.service");
    scene.get(812).open_minors = scene.get(812).mapped_minors = {2};
    scene.used(5, 4000);
    scene.evidence().nvswitches = 0;
    ShmFile file;
    file.name = "nccl-a";
    file.device = 1;
    file.inode = 10;
    file.uid = 2000;
    file.user = "bob";
    file.bytes = 3u << 20;
    file.age_s = 7200;
    scene.evidence().shm.emplace().push_back(file);
    return scene;
}

TEST_F(APlan, HasEveryStepWithWhatItWouldDoNow) {
    job_.allow_reset = job_.allow_reboot = job_.allow_shm = true;
    use(everything);
    expect_survey(served());
    expect_finish(Verdict::dirty);
    ASSERT_EQ(outcome_.plan_steps.size(), 8u);
    for (int i = 1; i <= 8; ++i) EXPECT_EQ(step(i).step, i);
    EXPECT_EQ(command(1).command, "check drained");
    EXPECT_EQ(to_string(command(1).kind), "before");
    EXPECT_EQ(command(2).command, "systemctl stop model-server.service");
    EXPECT_EQ(step(2).targets, (std::vector<ProcessKey>{{812, 8120}}));
    EXPECT_EQ(step(3).targets, (std::vector<ProcessKey>{{812, 8120}}));
    ASSERT_EQ(step(4).commands.size(), 2u) << "also the one that the stop would free";
    EXPECT_EQ(command(4).command, "nvidia-smi --gpu-reset -i " + testing::bus_of(2));
    EXPECT_EQ(outcome_.commands.at(step(4).commands[1]).command,
              "nvidia-smi --gpu-reset -i " + testing::bus_of(5));
    EXPECT_EQ(command(5).command, "reboot");
    EXPECT_EQ(command(6).command, "rm /dev/shm/nccl-a");
    EXPECT_EQ(command(8).command, "write marker");
    for (const auto& one : outcome_.commands) EXPECT_TRUE(one.planned) << one.command;
    ASSERT_TRUE(outcome_.plan);
    EXPECT_TRUE(outcome_.plan->listed.contains({812, 8120}));
    EXPECT_TRUE(outcome_.plan->units.contains("/system.slice/model-server.service"));
    EXPECT_TRUE(outcome_.plan->files.contains({1, 10}));
}

TEST_F(APlan, NamesTheFlagsThatWhatIsWithheldNeeds) {
    use(everything);
    expect_survey(served());
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(notes(4, "withheld: GPU 5: --allow-reset"));
    EXPECT_TRUE(notes(5, "withheld: the host: --allow-reboot"));
    EXPECT_EQ(command(6).about,
              "3 MiB of bob, unchanged for 2h00m; would be withheld: --allow-shm was not given");
    EXPECT_EQ(command(6).bytes, 3u << 20);
    for (int i : {4, 5, 6}) {
        EXPECT_TRUE(command(i).withheld);
        EXPECT_FALSE(command(i).planned) << "a yes would not cover it";
    }
    EXPECT_TRUE(outcome_.plan->files.empty());
}

TEST_F(APlan, OfACleanHostAsksNobodyWhereNothingIsRemoved) {
    use(everything);
    Scene scene(8);
    scene.evidence().shm = served().evidence().shm;
    expect_survey(scene);
    expect_finish(Verdict::clean);
    EXPECT_TRUE(notes(1, "not reached: the host is clean"));
}

TEST_F(APlan, OfACleanHostHasOnlyWhatCleanHostsGet) {
    job_.allow_shm = true;
    use(everything);
    Scene scene(8);
    scene.evidence().shm = served().evidence().shm;
    expect_survey(scene);
    expect_finish(Verdict::clean);
    ASSERT_EQ(outcome_.plan_steps.size(), 8u);
    for (int i : {2, 3, 4, 5, 7}) {
        EXPECT_TRUE(step(i).commands.empty());
        EXPECT_TRUE(notes(i, "not reached: the host is clean"));
    }
    EXPECT_EQ(step(1).commands.size(), 1u) << "it may veto the removal";
    EXPECT_EQ(command(6).command, "rm /dev/shm/nccl-a");
    EXPECT_EQ(command(8).command, "write marker");
}

TEST_F(APlan, SaysWhatIsLeftAloneAndThatNothingComesBeforeNothing) {
    use("steps:\n"
        "  - run: check drained\n"
        "    when: before\n"
        "  - signal: TERM\n"
        "    match: {holding: gpu}\n");
    expect_survey(Scene(8).holder(812, 2, 76107).in_cgroup(812, "/slurm/uid_1000/job_4242/step_0"));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(notes(1, "no step has anything to do"));
    ASSERT_EQ(step(2).spared.size(), 1u);
    EXPECT_EQ(step(2).spared[0].code, "scheduled-job");
    EXPECT_TRUE(outcome_.commands.empty());
    EXPECT_FALSE(outcome_.plan);
}

TEST_F(APlan, WithMoreTargetsThanAllowedListsThemAndPlansNone) {
    job_.max_kills = 1;
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 100).holder(813, 3, 100));
    expect_finish(Verdict::dirty);
    EXPECT_EQ(step(1).targets.size(), 2u);
    EXPECT_TRUE(notes(1, "withheld: more processes"));
    EXPECT_TRUE(notes(2, "withheld: more processes"));
    EXPECT_TRUE(outcome_.signals.empty());
    EXPECT_TRUE(has_finding("too-many-targets"));
}

}  // namespace
}  // namespace cleanslate::agentless
