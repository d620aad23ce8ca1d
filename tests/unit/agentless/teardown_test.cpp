// Whom the driver still tears down, and whom this sweep ended a moment ago: no ghosts, no foreign holders,
// and no GPU is reset below them.

#include "agentless/resets.hpp"
#include "tests/support/judging.hpp"
#include "transcript.hpp"

namespace cleanslate::agentless {
namespace {

using testing::alive;
using testing::codes;
using testing::ended;
using testing::find;
using testing::Scene;
using testing::Transcript;
using namespace std::chrono_literals;

// Past its end: without a memory map, an executable, and descriptors.
void empty_out(Process& process, char state) {
    process.state = state;
    process.argv.emplace();
    process.exe.reset();
    process.open_minors.clear();
    process.mapped_minors.clear();
    process.opens_control = process.maps_control = false;
}

// Pid 812 as nvidia-smi shows it while it lives in state D: "[Not Found]", with what is left of its memory.
Scene torn_down(std::int64_t mib) {
    Scene scene = Scene(2).process(812, 1, "python3").ghost(812, 1, mib);
    scene.evidence().nvswitches = 0;
    empty_out(scene.get(812), 'D');
    return scene;
}

// The driver lists it no more, and its memory is still used.
Scene unlisted(char state) {
    Scene scene = torn_down(0);
    scene.evidence().apps.clear();
    scene.used(1, 500);
    empty_out(scene.get(812), state);
    return scene;
}

ResetChoice resets(Scene& scene) { return choose_resets({}, scene.evidence(), testing::judge(scene), {}); }

TEST(Teardown, OfAListedPidIsNoGhostAndNoReasonForAReset) {
    auto scene = torn_down(36009);
    const auto host = testing::judge(scene);
    EXPECT_EQ(host.verdict, Verdict::dirty);
    EXPECT_EQ(codes(host.gpus[1].findings), "memory-in-use:dirty holder-torn-down:dirty");
    EXPECT_NE(find(host.gpus[1].findings, "holder-torn-down")->text.find("still being torn down"),
              std::string::npos);
    const auto choice = resets(scene);
    EXPECT_TRUE(choice.gpus.empty());
    ASSERT_EQ(choice.withheld.size(), 1u);
    EXPECT_EQ(choice.withheld[0].why, "pid 812 is still being torn down");
}

TEST(Teardown, IsNotWhatAKernelThreadOrARunningProcessWithItsPidDoes) {
    auto thread = torn_down(500), other = torn_down(500);
    thread.get(812).kernel_thread = true;
    other.state(812, 'S');
    for (auto* scene : {&thread, &other})
        EXPECT_NE(find(testing::judge(*scene).gpus[1].findings, "ghost"), nullptr);
}

TEST(Teardown, InAContainerIsKnownOnlyOfWhomThisSweepHasSignalled) {
    auto scene = torn_down(500);
    scene.evidence().proc_hides_others = true;
    EXPECT_NE(find(testing::judge(scene).gpus[1].findings, "foreign-holder"), nullptr);
    scene.evidence().signalled = {{812, 8120}};
    EXPECT_NE(find(testing::judge(scene).gpus[1].findings, "holder-torn-down"), nullptr);
    scene.evidence().signalled = {{812, 8121}};  // whose pid was taken again
    EXPECT_NE(find(testing::judge(scene).gpus[1].findings, "ghost"), nullptr);
}

TEST(Teardown, OfOneThatTheDriverListsNoMoreWithholdsEveryReset) {
    auto emptied = unlisted('D');
    EXPECT_TRUE(resets(emptied).gpus.empty());
    EXPECT_NE(resets(emptied).withheld.at(0).why.find("pid 812 (python3) is still being torn down"),
              std::string::npos);
    auto zombie = unlisted('Z');
    EXPECT_EQ(resets(zombie).gpus.size(), 1u) << "a zombie holds nothing";
    zombie.evidence().signalled = {{812, 8120}};
    EXPECT_TRUE(resets(zombie).gpus.empty()) << "a thread of one just ended may";
    auto waiting = unlisted('D');  // an ordinary process that waits for its disk
    waiting.get(812).argv = std::vector<std::string>{"tar"};
    waiting.get(812).exe = "/usr/bin/tar";
    EXPECT_EQ(resets(waiting).gpus.size(), 1u);
    waiting.evidence().signalled = {{812, 8120}};
    EXPECT_TRUE(resets(waiting).gpus.empty());
}

TEST(Teardown, OfOneThatWasSignalledIsNoMemoryWithoutHolder) {
    auto scene = unlisted('D');
    EXPECT_NE(find(testing::judge(scene).gpus[1].findings, "memory-without-holder"), nullptr);
    scene.evidence().signalled = {{812, 8120}};
    EXPECT_EQ(codes(testing::judge(scene).gpus[1].findings), "memory-in-use:dirty");
}

TEST_F(Transcript, WhomTheDriverStillTearsDownIsWaitedForAndNoGpuIsResetBelowIt) {
    job_.allow_reset = true;
    use("steps:\n"
        "  - signal: KILL\n    match: {holding: gpu}\n    wait: 5s\n"
        "  - reset: {within: 60ms}\n"
        "  - verify: {within: 0s}\n");
    Scene before = Scene(2).holder(812, 1, 60000);
    before.evidence().nvswitches = 0;
    expect_survey(before);
    EXPECT_TRUE(asked_.all_processes);
    expect_signal("KILL", {812}, alive, 5s);
    expect_survey(torn_down(40000));
    expect_survey(torn_down(36009), 5110ms);
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.commands.empty());
    EXPECT_TRUE(has_finding("reset-withheld", "pid 812 is still being torn down"));
    EXPECT_TRUE(has_finding("slow-teardown", "36009 of 60000 MiB left"));
    EXPECT_FALSE(has_finding("unkillable"));
}

// A container's own /proc, whose pids the driver lists.
Scene in_container(Scene scene) {
    scene.evidence().proc_hides_others = true;
    return scene;
}

TEST_F(Transcript, InAContainerTheMemoryOfWhomItHasEndedIsWaitedFor) {
    begin(Job::Kind::clear);
    expect_survey(in_container(Scene(2).holder(812, 1, 500)));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(in_container(Scene(2).ghost(812, 1, 500)));
    EXPECT_EQ(find(outcome_.last->gpus[1].findings, "foreign-holder"), nullptr);
    expect_survey(in_container(Scene(2).ghost(812, 1, 500)), 140ms);
    expect_survey(in_container(Scene(2)), 210ms);
    EXPECT_NE(outcome_.last->verdict, Verdict::dirty);
}

TEST_F(Transcript, InAContainerWhomItNeverSawStaysForeignAndIsNotWaitedFor) {
    begin(Job::Kind::clear);
    expect_survey(in_container(Scene(2).holder(812, 1, 500).ghost(9000, 0, 700)));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(in_container(Scene(2).ghost(9000, 0, 700)));
    EXPECT_NE(find(outcome_.last->gpus[0].findings, "foreign-holder"), nullptr);
    expect_finish(Verdict::dirty);
}

// The driver still lists those that were just ended, beside one that came after them.
Scene refilled(bool still_listed) {
    Scene scene = Scene(2).holder(990, 1, 500);
    if (still_listed) scene.ghost(812, 1, 500);
    return scene;
}

TEST_F(Transcript, TheLastLookIsNotTakenWhileTheDriverListsWhomItHasJustEnded) {
    use("steps:\n  - signal: KILL\n    match: {holding: gpu}\n    wait: 5s\n  - verify: {within: 5s}\n");
    expect_survey(Scene(2).holder(812, 1, 500));
    expect_signal("KILL", {812}, ended, 10ms);
    expect_survey(refilled(true));
    expect_survey(refilled(true), 360ms);
    expect_survey(refilled(false), 660ms);
    expect_finish(Verdict::dirty);
    EXPECT_EQ(find(outcome_.last->gpus[1].findings, "ghost"), nullptr);
    EXPECT_TRUE(has_finding("respawned"));
}

TEST_F(Transcript, TheLastLookWaitsTwoSecondsAtMost) {
    use("steps:\n  - signal: KILL\n    match: {holding: gpu}\n    wait: 5s\n  - verify: {within: 5s}\n");
    expect_survey(Scene(2).holder(812, 1, 500));
    expect_signal("KILL", {812}, ended, 10ms);
    int looks = 0;
    for (; looks < 20; ++looks) {
        const Move move = next();
        const auto* survey = std::get_if<TakeSurvey>(&move);
        if (survey == nullptr) break;
        now_ = std::max(now_, survey->not_before);
        sequence_->surveyed(refilled(true).evidence(), now_, now_ + 50ms);
        now_ += 50ms;
    }
    EXPECT_GE(now_ - start_, 2s);
    EXPECT_LE(now_ - start_, 2200ms);
    EXPECT_EQ(outcome_.verdict, Verdict::dirty);
    EXPECT_NE(find(outcome_.last->gpus[1].findings, "ghost"), nullptr);
}

TEST_F(Transcript, AnInterruptionIsNotHeldUpByALastLook) {
    begin(Job::Kind::clear);
    expect_survey(Scene(2).holder(812, 1, 500));
    expect_signal("TERM", {812}, ended, 10ms);
    sequence_->wind_down();
    expect_survey(refilled(true));
    expect_finish(Verdict::dirty);
}

}  // namespace
}  // namespace cleanslate::agentless
