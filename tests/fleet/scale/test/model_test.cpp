#include "tests/fleet/scale/model.hpp"

#include <gmock/gmock.h>

#include "agentless/evidence.hpp"
#include "agentless/remote.hpp"
#include "tests/fleet/scale/script_run.hpp"

namespace cleanslate::simulated {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string nonce = "0123456789abcdef";
constexpr const char* processes = R"(gpus 2
release 150ms

process gentle
    exe /opt/serve/bin/python3.12
    argv python3 serve.py
    user alice
    memory 0=1000

process deaf
    exe /opt/serve/bin/python3.12
    memory 1=2000
    term ignore

process late
    exe /opt/serve/bin/python3.12
    memory 1=3000
    term 700ms
)";

std::shared_ptr<Blueprint> blueprint(const std::string& text) {
    auto host = parse_host(text, "test", "model");
    EXPECT_TRUE(host) << host.error().message;
    return std::make_shared<Blueprint>(std::move(*host));
}

agentless::Evidence look(HostModel& host, Moment now) {
    const auto script = recognise(agentless::survey_script({}, nonce));
    auto evidence = agentless::read_survey(host.survey(script, now), nonce);
    EXPECT_TRUE(evidence) << evidence.error().message;
    EXPECT_TRUE(evidence->complete) << evidence->incomplete_reason;
    return *evidence;
}

ScriptRun signal(HostModel& host, const std::string& name, const std::vector<agentless::ProcessKey>& targets,
                 Milliseconds wait = 10s) {
    agentless::SignalRequest request{name, targets, host.boot_id(), wait};
    return {host, recognise(agentless::signal_script(request, nonce)), 1};
}

agentless::ProcessKey key_of(std::size_t process) {
    return {static_cast<agentless::Pid>(pid_of(process)), start_of(process)};
}

// Runs it to its end from `now` on; when that was, and what the reader of the program makes of its output.
struct Ran {
    Moment ended{0};
    agentless::SignalReport report;
};
Ran run(ScriptRun script, Moment now) {
    std::string out;
    while (true) {
        const auto step = script.step(now);
        out += step.out;
        if (step.over) break;
        EXPECT_GT(step.again, now);
        now = step.again;
    }
    auto report = agentless::read_signal(out, nonce);
    EXPECT_TRUE(report && report->complete) << out;
    return {now, *report};
}

TEST(Model, AnIdleHostsSurveyIsWholeAndHasItsGpus) {
    HostModel host(blueprint("gpus 8\n"), 1);
    const auto evidence = look(host, 0ms);
    EXPECT_EQ(evidence.boot_id, host.boot_id());
    EXPECT_EQ(evidence.gpus.size(), 8U);
    EXPECT_TRUE(evidence.apps.empty());
}

TEST(Model, HostsOfOneDescriptionDifferInBootIdAndUuids) {
    const auto shared = blueprint("gpus 1\n");
    HostModel one(shared, 1), two(shared, 2);
    const auto first = look(one, 0ms), second = look(two, 0ms);
    EXPECT_NE(first.boot_id, second.boot_id);
    EXPECT_NE(first.gpus[0].uuid, second.gpus[0].uuid);
}

TEST(Model, ATermEndsWhoDoesNotIgnoreItAtOnceOrAfterItsTime) {
    HostModel host(blueprint(processes), 1);
    EXPECT_EQ(host.signal(0, "TERM", 100ms), 100ms);
    EXPECT_EQ(host.signal(1, "TERM", 100ms), std::nullopt);
    EXPECT_EQ(host.signal(2, "TERM", 100ms), 800ms);
    EXPECT_EQ(host.life(2, 799ms), Life::alive);
    EXPECT_NE(host.life(2, 800ms), Life::alive);
}

TEST(Model, AKillAndAnIntEndEverybodyAtOnce) {
    HostModel host(blueprint(processes), 1);
    host.signal(2, "TERM", 0ms);
    EXPECT_EQ(host.signal(2, "KILL", 10ms), 10ms);
    EXPECT_EQ(host.signal(1, "KILL", 10ms), 10ms);
    EXPECT_EQ(host.signal(0, "INT", 10ms), 10ms);
}

TEST(Model, ALaterSignalDoesNotPutAnEndOff) {
    HostModel host(blueprint(processes), 1);
    host.signal(2, "TERM", 0ms);
    EXPECT_EQ(host.signal(2, "TERM", 600ms), 700ms);
}

TEST(Model, AWorkerThatComesBackIsThereAgainSoLongAfterItsEndAndCanBeEndedAgain) {
    HostModel host(blueprint(processes), 1, 5000ms);
    host.signal(0, "TERM", 1000ms);
    EXPECT_EQ(host.life(0, 5999ms), Life::gone);
    EXPECT_EQ(host.life(0, 6000ms), Life::alive);
    EXPECT_EQ(host.signal(0, "TERM", 7000ms), 7000ms);
    EXPECT_EQ(host.life(0, 11'999ms), Life::gone);
    EXPECT_EQ(host.life(0, 12'000ms), Life::alive);
}

TEST(Model, MemoryIsFreeAReleaseAfterTheEnd) {
    HostModel host(blueprint(processes), 1);
    host.signal(0, "TERM", 1000ms);
    EXPECT_EQ(host.life(0, 999ms), Life::alive);
    EXPECT_EQ(host.life(0, 1000ms), Life::memory_left);
    EXPECT_EQ(host.life(0, 1149ms), Life::memory_left);
    EXPECT_EQ(host.life(0, 1150ms), Life::gone);
    const auto script = recognise(agentless::survey_script({}, nonce));
    EXPECT_THAT(host.survey(script, 1149ms), HasSubstr("1000%20MiB,%20[Not%20Found]"));
    EXPECT_THAT(host.survey(script, 1150ms), Not(HasSubstr("1000%20MiB")));
}

TEST(Model, ASignalScriptEndsWithTheLastOfItsTargets) {
    HostModel host(blueprint(processes), 1);
    const auto ran = run(signal(host, "TERM", {key_of(0), key_of(2)}), 0ms);
    EXPECT_EQ(ran.ended, 700ms);
    ASSERT_EQ(ran.report.replies.size(), 2U);
    EXPECT_EQ(ran.report.replies[0].result, agentless::SignalReply::Result::ended);
    EXPECT_EQ(ran.report.replies[0].took, Milliseconds(20));
    EXPECT_EQ(ran.report.replies[1].took, Milliseconds(700));
}

TEST(Model, ASignalScriptWaitsNoLongerThanItShould) {
    HostModel host(blueprint(processes), 1);
    const auto ran = run(signal(host, "TERM", {key_of(1)}, 2s), 0ms);
    EXPECT_EQ(ran.ended, 2000ms);
    EXPECT_EQ(ran.report.replies.at(0).result, agentless::SignalReply::Result::alive);
    EXPECT_TRUE(ran.report.replies.at(0).sent);
}

TEST(Model, NobodyElseIsSignalled) {
    using enum agentless::SignalReply::Result;
    HostModel host(blueprint(processes), 1);
    auto other_start = key_of(0);
    ++other_start.start;
    const auto report = run(signal(host, "KILL", {other_start, {1, 1}, {999, 1}}), 0ms).report;
    ASSERT_EQ(report.replies.size(), 3U);
    EXPECT_EQ(report.replies[0].result, changed);
    EXPECT_EQ(report.replies[1].result, not_permitted);
    EXPECT_EQ(report.replies[2].result, ended);
    EXPECT_EQ(host.life(0, 1s), Life::alive);
}

TEST(Model, AnotherBootsTargetsAreLeftAlone) {
    HostModel host(blueprint(processes), 1);
    const agentless::SignalRequest request{"KILL", {key_of(0)}, "another", 1s};
    const auto report = run({host, recognise(agentless::signal_script(request, nonce)), 1}, 0ms).report;
    EXPECT_EQ(report.replies.at(0).result, agentless::SignalReply::Result::changed);
    EXPECT_EQ(host.life(0, 1s), Life::alive);
}

agentless::LockReport lock(HostModel& host, std::uint64_t connection, Moment now) {
    ScriptRun script(host, recognise(agentless::lock_script({.who = "alice", .wait = 100ms}, nonce)),
                     connection);
    for (auto step = script.step(now);; step = script.step(now = step.again)) {
        if (!step.over) continue;
        const auto report = agentless::read_lock(step.out, nonce);
        EXPECT_TRUE(report) << step.out;
        return *report;
    }
}

TEST(Model, ALockIsOnesUntilItIsGivenBackOrItsConnectionEnds) {
    using enum agentless::LockReport::Result;
    HostModel host(blueprint("gpus 1\n"), 1);
    const auto first = lock(host, 1, 0ms);
    ASSERT_EQ(first.result, taken);
    const auto second = lock(host, 2, 10ms);
    EXPECT_EQ(second.result, busy);
    EXPECT_EQ(second.holder, "alice");
    ScriptRun release(host, recognise(agentless::release_script(first.keeper, nonce)), 1);
    EXPECT_EQ(agentless::read_release(release.step(200ms).out, nonce), true);
    EXPECT_EQ(lock(host, 2, 300ms).result, taken);
    host.connection_ended(2);
    EXPECT_EQ(lock(host, 3, 400ms).result, taken);
}

TEST(Model, AScriptThatItCannotDoEndsWithAStatusAndNothingOnItsOutput) {
    HostModel host(blueprint("gpus 1\n"), 1);
    ScriptRun script(host, recognise(agentless::reboot_script(host.boot_id(), nonce)), 1);
    const auto step = script.step(0ms);
    EXPECT_TRUE(step.over);
    EXPECT_EQ(step.status, 127);
    EXPECT_EQ(step.out, "");
    EXPECT_THAT(step.err, HasSubstr("reboot"));
}

TEST(Model, ADescriptionThatItCannotFollowIsRefusedByName) {
    const auto beyond = [](const std::string& text) { return beyond_model(blueprint(text)->host()); };
    EXPECT_EQ(beyond(processes), "");
    EXPECT_EQ(beyond("gpus 1\ndriver hang\n"), "driver");
    EXPECT_EQ(beyond("gpus 1\ngpu 0 mig 1g.18gb\n"), "gpu: mig");
    EXPECT_EQ(beyond("gpus 1\nprocess w\n    exe /opt/w\n    restart 1s\n"), "process w: restart");
    EXPECT_EQ(beyond("gpus 1\nprocess w\n    exe /usr/bin/sleep\n    argv sleep 9\n"),
              "process w: exe is a program of the machine");
}

}  // namespace
}  // namespace cleanslate::simulated
