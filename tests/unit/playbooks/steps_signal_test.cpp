// `signal:` and `stop:`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "transcript.hpp"

namespace cleanslate::playbooks {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string step(const std::string& text) { return "steps:\n  - " + text + "\n"; }
std::string signal(const std::string& name) {
    return step("signal: " + name + "\n    match: {holding: gpu}");
}

TEST(SignalStep, ASignalWithOrWithoutSig) {
    const std::pair<const char*, int> signals[] = {{"TERM", SIGTERM}, {"KILL", SIGKILL}, {"INT", SIGINT},
                                                   {"HUP", SIGHUP},   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1},
                                                   {"USR2", SIGUSR2}};
    for (const auto& [name, number] : signals)
        for (const std::string prefix : {"", "SIG"}) {
            const auto read = only_step<SignalStep>(accepted(signal(prefix + name)));
            EXPECT_EQ(read.signal, number);
            EXPECT_EQ(read.signal_name, name);
        }
}

TEST(SignalStep, ANumberIsRefusedWithItsName) {
    EXPECT_EQ(refused(signal("9")), "p.yaml:2:13: signal 9 is a number -> write KILL");
    EXPECT_THAT(refused(signal("'15'")), HasSubstr("write TERM"));
    EXPECT_THAT(refused(signal("0")), HasSubstr("write TERM, KILL, INT"));
    EXPECT_THAT(refused(signal("-9")), HasSubstr("write TERM, KILL, INT"));
}

TEST(SignalStep, AnotherWordIsRefusedWithTheNearest) {
    EXPECT_THAT(refused(signal("term")), AllOf(StartsWith("p.yaml:2:13: there is no signal `term` here"),
                                               HasSubstr("did you mean TERM?")));
    EXPECT_THAT(refused(signal("sigkill")), HasSubstr("did you mean KILL?"));
    EXPECT_THAT(refused(signal("KIL")), HasSubstr("did you mean KILL?"));
    EXPECT_THAT(refused(signal("STOP")), HasSubstr("write TERM, KILL, INT, HUP, QUIT, USR1 or USR2"));
    EXPECT_THAT(refused(signal("SIGSIGTERM")), HasSubstr("there is no signal"));
    EXPECT_THAT(refused(signal("''")), HasSubstr("there is no signal"));
    EXPECT_THAT(refused(signal("")), HasSubstr("found nothing"));
    EXPECT_THAT(refused(signal("[TERM]")), HasSubstr("found a list"));
    EXPECT_THAT(refused(signal("\"T\\eERM\"")), HasSubstr("T\\x1BERM"));
}

TEST(SignalStep, WaitsTenSecondsAndThirtyAfterKill) {
    EXPECT_EQ(only_step<SignalStep>(accepted(signal("TERM"))).wait, Milliseconds(10'000));
    EXPECT_EQ(only_step<SignalStep>(accepted(signal("KILL"))).wait, Milliseconds(30'000));
    EXPECT_EQ(only_step<SignalStep>(accepted(signal("KILL") + "    wait: 2s\n")).wait, Milliseconds(2'000));
}

TEST(SignalStep, ABareNumberIsNoDuration) {
    EXPECT_THAT(refused(signal("TERM") + "    wait: 10\n"),
                AllOf(StartsWith("p.yaml:4:11: `wait`: \"10\" is not a duration"), HasSubstr("10s")));
    EXPECT_THAT(refused(signal("TERM") + "    wait: 2h\n"), HasSubstr("`wait` is 2h -> write 0s to 1h"));
    EXPECT_THAT(refused(signal("TERM") + "    wait:\n"), HasSubstr("found nothing"));
}

TEST(SignalStep, NeedsAMatch) {
    EXPECT_THAT(
        refused(step("signal: KILL")),
        AllOf(StartsWith("p.yaml:2:5: this `signal` step has no `match`"), HasSubstr("{holding: gpu}")));
}

TEST(StopStep, NamesTheKindsOfSupervisors) {
    const auto stop = only_step<StopStep>(accepted(
        step("stop: [units, containers, slurm_jobs, mps]\n    match: {holding: gpu, user: ann}\n    timeout: "
             "90s")));
    EXPECT_TRUE(stop.units && stop.containers && stop.slurm_jobs && stop.mps);
    EXPECT_TRUE(stop.match.holding_gpu);
    EXPECT_EQ(stop.timeout, Milliseconds(90'000));
    const auto units = only_step<StopStep>(accepted(step("stop: units\n    match: {holding: gpu}")));
    EXPECT_TRUE(units.units);
    EXPECT_FALSE(units.containers || units.slurm_jobs || units.mps);
    EXPECT_EQ(units.timeout, Milliseconds(60'000));
}

TEST(StopStep, NeedsAMatchButForMpsAlone) {
    EXPECT_THAT(refused(step("stop: units")),
                AllOf(StartsWith("p.yaml:2:5: this `stop` step has no `match`"), HasSubstr("holding: gpu")));
    EXPECT_THAT(refused(step("stop: [mps, units]")), HasSubstr("has no `match`"));
    EXPECT_THAT(refused(step("stop: mps\n    match:")), HasSubstr("an empty `match`"));
    const auto mps = only_step<StopStep>(accepted(step("stop: mps")));
    EXPECT_TRUE(mps.mps && mps.match.holding_gpu);
    EXPECT_THAT(only_step<StopStep>(accepted(step("stop: [mps]\n    match: {gpus: 0}"))).match.gpus,
                testing::ElementsAre("0"));
}

TEST(StopStep, RefusesWhatItCanNotStop) {
    const auto stop = [](const std::string& kinds) {
        return refused(step("stop: " + kinds + "\n    match: {holding: gpu}"));
    };
    EXPECT_THAT(stop("unit"), StartsWith("p.yaml:2:11: `stop` knows no `unit` -> did you mean `units`?"));
    EXPECT_THAT(stop("[units, pods]"), AllOf(StartsWith("p.yaml:2:19: "), HasSubstr("slurm_jobs and mps")));
    EXPECT_THAT(stop("ollama.service"), HasSubstr("`match` says whose they are"));
    EXPECT_THAT(stop("[units, units]"), HasSubstr("`stop` names units twice"));
    EXPECT_THAT(stop("[]"), HasSubstr("`stop` is an empty list"));
    EXPECT_THAT(stop(""), HasSubstr("found nothing"));
    EXPECT_THAT(stop("units\n    timeout: 2h"), HasSubstr("write 1s to 1h"));
    EXPECT_THAT(stop("units\n    wait: 2s"), HasSubstr("`wait` belongs to a `signal` step"));
}

}  // namespace
}  // namespace cleanslate::playbooks
