#include "playbooks/steps.hpp"

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

TEST(RunStep, ACommandWithItsTimeoutAndStatus) {
    const auto run = only_step<RunStep>(
        accepted(step("run: systemctl stop ollama\n    timeout: 90s\n    expect_status: 5")));
    EXPECT_EQ(run.command, "systemctl stop ollama");
    EXPECT_EQ(run.timeout, Milliseconds(90'000));
    EXPECT_EQ(run.expect_status, 5);
}

TEST(RunStep, HasDefaults) {
    const auto run = only_step<RunStep>(accepted(step("run: 'true'")));
    EXPECT_EQ(run.timeout, Milliseconds(60'000));
    EXPECT_EQ(run.expect_status, 0);
}

TEST(RunStep, ACommandMayHaveSeveralLines) {
    EXPECT_EQ(only_step<RunStep>(accepted(step("run: |\n      cd /srv\n      ./stop.sh"))).command,
              "cd /srv\n./stop.sh\n");
}

TEST(RunStep, OutOfRangeIsRefused) {
    EXPECT_THAT(refused(step("run: x\n    timeout: 0s")), HasSubstr("`timeout` is 0s -> write 1s to 24h"));
    EXPECT_THAT(refused(step("run: x\n    timeout: 25h")), HasSubstr("write 1s to 24h"));
    EXPECT_THAT(refused(step("run: x\n    timeout: 60")), HasSubstr("not a duration"));
    EXPECT_THAT(refused(step("run: x\n    expect_status: 256")), HasSubstr("write a number from 0 to 255"));
    EXPECT_THAT(refused(step("run: x\n    expect_status: ok")), HasSubstr("integer"));
    EXPECT_THAT(refused(step("run: '  '")), HasSubstr("`run` is empty"));
    EXPECT_THAT(refused(step("run:")), HasSubstr("found nothing"));
    EXPECT_THAT(refused(step("run: [ls, -l]")), HasSubstr("found a list"));
}

TEST(RunStep, TakesOnlyHarmlessValuesIntoItsCommand) {
    const std::string yaml = "params: {unit: ollama.service}\nsteps:\n  - run: systemctl stop ${unit}\n";
    EXPECT_EQ(only_step<RunStep>(accepted(yaml)).command, "systemctl stop ollama.service");
    EXPECT_EQ(only_step<RunStep>(accepted(yaml, {{"unit", "user@1000.service"}})).command,
              "systemctl stop user@1000.service");
    for (const char* value :
         {"a b", "a;reboot", "$(reboot)", "`reboot`", "a|b", "a&b", "a>b", "a\nb", "'a'",  "\"a\"",   "a*",
          "a?",  "~root",    "a\\b",      "{a,b}",    "#a",  "!1",  "(a)", "[a]",  "a\tb", "\xc3\xa9"})
        EXPECT_THAT(
            refused(yaml, {{"unit", value}}),
            AllOf(StartsWith("p.yaml:3:10: param `unit`: its value "), HasSubstr("has the character")))
            << value;
    EXPECT_THAT(refused(yaml, {{"unit", ""}}), HasSubstr("is empty"));
    EXPECT_THAT(refused(yaml, {{"unit", "--root=/"}}), HasSubstr("begins with -"));
}

TEST(VerifyStep, WithLimitAndTime) {
    const auto verify =
        only_step<VerifyStep>(accepted(step("verify:\n      max_used: 1GiB\n      within: 30s")));
    EXPECT_EQ(verify.max_used, Mebibytes{1024});
    EXPECT_EQ(verify.within, Milliseconds(30'000));
}

TEST(VerifyStep, HasDefaults) {
    for (const char* text : {"verify:", "verify: {}", "verify: ~"}) {
        const auto verify = only_step<VerifyStep>(accepted(step(text)));
        EXPECT_EQ(verify.max_used, std::nullopt);
        EXPECT_EQ(verify.within, Milliseconds(10'000));
    }
}

TEST(VerifyStep, BareNumbersAreRefused) {
    EXPECT_THAT(refused(step("verify: {max_used: 100}")),
                AllOf(StartsWith("p.yaml:2:24: `max_used`: \"100\" is not a size"), HasSubstr("100MiB")));
    EXPECT_THAT(refused(step("verify: {within: 10}")), HasSubstr("not a duration"));
    EXPECT_THAT(refused(step("verify: {within: 2h}")), HasSubstr("write 0s to 1h"));
    EXPECT_THAT(refused(step("verify: {max_use: 100MiB}")), HasSubstr("did you mean `max_used`?"));
    EXPECT_THAT(refused(step("verify: true")), HasSubstr("`verify` is a mapping, and here is text"));
}

TEST(Steps, AKeyAtTheWrongPlaceIsToldWhereItBelongs) {
    EXPECT_EQ(refused(step("verify:\n    within: 30s")),
              "p.yaml:3:5: a `verify` step has no key `within` -> `within` belongs below `verify:`, two "
              "blanks further in");
    EXPECT_THAT(refused(signal("TERM") + "    timeout: 3s\n"),
                HasSubstr("`timeout` belongs to a `run` step"));
    EXPECT_THAT(refused(step("run: x\n    wait: 3s")), HasSubstr("`wait` belongs to a `signal` step"));
    EXPECT_THAT(refused(step("signal: TERM\n    holding: gpu")),
                HasSubstr("`holding` belongs below `match:`"));
    EXPECT_THAT(refused(step("match: {holding: gpu}")), HasSubstr("`match` belongs to a `signal` step"));
}

TEST(Steps, ASlipIsRefusedWithWhatWasMeant) {
    EXPECT_EQ(refused(step("singal: TERM")),
              "p.yaml:2:5: a step has no key `singal` -> did you mean `signal`? known here: signal, run, "
              "verify or name");
    EXPECT_THAT(refused(step("run: x\n    time_out: 3s")), HasSubstr("did you mean `timeout`?"));
    EXPECT_THAT(refused(step("{}")), HasSubstr("a step without `signal`, `run` or `verify`"));
    EXPECT_THAT(refused(step("name: only a name")), HasSubstr("a step without"));
}

TEST(Steps, DoOneThingEach) {
    EXPECT_EQ(refused(step("signal: TERM\n    match: {holding: gpu}\n    run: x")),
              "p.yaml:4:5: `signal` and `run` in one step -> begin a step of its own: `- run:`");
}

TEST(Steps, ThatAreNoMappingsAreRefused) {
    EXPECT_THAT(
        refused(step("verify")),
        AllOf(StartsWith("p.yaml:2:5: a step is a mapping, and here is text"), HasSubstr("with the colon")));
    EXPECT_THAT(refused(step("")), HasSubstr("here is nothing"));
    EXPECT_THAT(refused("steps:\n  signal: TERM\n"),
                StartsWith("p.yaml:2:3: `steps` is a list, and here is mapping"));
    EXPECT_THAT(refused("steps:\n"), HasSubstr("`steps` is a list, and here is nothing"));
    EXPECT_THAT(refused("steps: []\n"), StartsWith("p.yaml:1:8: `steps` is empty"));
}

TEST(Steps, AreAtMostAHundred) {
    std::string many = "steps:\n";
    for (int i = 0; i < 100; ++i) many += "  - verify:\n";
    EXPECT_EQ(accepted(many).steps.size(), 100U);
    EXPECT_THAT(refused(many + "  - verify:\n"), HasSubstr("101 steps"));
}

TEST(Steps, KnowTheirLineAndTheirName) {
    const auto playbook = accepted(
        "steps:\n  - name: free the port\n    run: x\n\n  - signal: TERM\n    match: {holding: gpu, tree: "
        "true}\n"
        "  - signal: KILL\n    match: {cmdline: vllm, name: py, exe: three, pid: 7}\n  - run: |\n      one\n "
        "     two\n  - verify:\n");
    ASSERT_EQ(playbook.steps.size(), 5U);
    EXPECT_EQ(playbook.steps[0].name, "free the port");
    EXPECT_EQ(playbook.steps[0].line, 2);
    EXPECT_EQ(playbook.steps[1].name, "TERM holders and their launchers");
    EXPECT_EQ(playbook.steps[1].line, 5);
    EXPECT_EQ(playbook.steps[2].name,
              "KILL processes with cmdline 'vllm' with name 'py' with exe 'three' with pid 7");
    EXPECT_EQ(playbook.steps[3].name, "run one");
    EXPECT_EQ(playbook.steps[4].name, "verify");
}

TEST(Steps, ANameIsOneShortLine) {
    for (const char* name : {"''", "'  '", "\"a\\nb\"", "\"a\\eb\"", "\"a\\u202eb\""})
        EXPECT_THAT(refused(step("run: x\n    name: " + std::string(name))), HasSubstr("not one short line"))
            << name;
    EXPECT_THAT(refused(step("run: x\n    name: " + std::string(201, 'a'))), HasSubstr("not one short line"));
    EXPECT_THAT(refused(step("run: x\n    name:")), HasSubstr("found nothing"));
}

}  // namespace
}  // namespace cleanslate::playbooks
