// The kinds of steps that choose no process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "transcript.hpp"

namespace cleanslate::playbooks {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string step(const std::string& text) { return "steps:\n  - " + text + "\n"; }

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

TEST(RunStep, HasItsTime) {
    const auto when = [](const std::string& word) {
        return only_step<RunStep>(accepted(step("run: x" + word))).when;
    };
    EXPECT_EQ(when(""), RunStep::When::in_order);
    EXPECT_EQ(when("\n    when: before"), RunStep::When::before);
    EXPECT_EQ(when("\n    when: after"), RunStep::When::after);
    EXPECT_THAT(refused(step("run: x\n    when: first")),
                StartsWith("p.yaml:3:11: `when: first` -> write before or after"));
    EXPECT_THAT(refused(step("run: x\n    when:")), HasSubstr("found nothing"));
    EXPECT_THAT(refused(step("verify:\n    when: after")), HasSubstr("`when` belongs to a `run` step"));
}

TEST(VerifyStep, JudgesSomeGpus) {
    EXPECT_THAT(only_step<VerifyStep>(accepted(step("verify: {gpus: [0, 3]}"))).gpus, ElementsAre("0", "3"));
    EXPECT_THAT(only_step<VerifyStep>(accepted(step("verify: {gpus: '0,3'}"))).gpus, ElementsAre("0", "3"));
    EXPECT_THAT(only_step<VerifyStep>(accepted(step("verify:"))).gpus, IsEmpty());
    EXPECT_THAT(refused(step("verify: {gpus: []}")), HasSubstr("`gpus` is an empty list"));
    EXPECT_THAT(refused(step("verify:\n    gpus: 0")), HasSubstr("below `match:` or `verify:`"));
}

TEST(ResetStep, HasDefaultsAndDaemons) {
    for (const char* text : {"reset:", "reset: {}", "reset: ~"}) {
        const auto reset = only_step<ResetStep>(accepted(step(text)));
        EXPECT_THAT(reset.daemons, IsEmpty());
        EXPECT_EQ(reset.within, Milliseconds(10'000));
        EXPECT_EQ(reset.timeout, Milliseconds(120'000));
    }
    const auto reset = only_step<ResetStep>(accepted(step(
        "reset:\n      daemons: [nvidia-dcgm.service, nvidia-persistenced.service]\n      within: 0s\n      "
        "timeout: 5m")));
    EXPECT_THAT(reset.daemons, ElementsAre("nvidia-dcgm.service", "nvidia-persistenced.service"));
    EXPECT_EQ(reset.within, Milliseconds(0));
    EXPECT_EQ(reset.timeout, Milliseconds(300'000));
}

TEST(ResetStep, IsStrict) {
    EXPECT_THAT(refused(step("reset: true")), HasSubstr("`reset` is a mapping, and here is text"));
    EXPECT_THAT(refused(step("reset: {gpus: 0}")), HasSubstr("`reset` has no key `gpus`"));
    EXPECT_THAT(refused(step("reset: {daemons: [nvidia-dcgm]}")),
                AllOf(StartsWith("p.yaml:2:23: `daemons`: `nvidia-dcgm` is no name of a service"),
                      HasSubstr("did you mean `nvidia-dcgm.service`?")));
    EXPECT_THAT(refused(step("reset: {daemons: [sshd.service]}")), HasSubstr("is the way in"));
    EXPECT_THAT(refused(step("reset: {daemons: [a.service, a.service]}")),
                HasSubstr("names a.service twice"));
    EXPECT_THAT(refused(step("reset: {timeout: 5s}")), HasSubstr("write 10s to 1h"));
    EXPECT_THAT(refused(step("reset: {within: 2h}")), HasSubstr("write 0s to 1h"));
    EXPECT_THAT(refused(step("reset:\n    daemons: [a.service]")), HasSubstr("belongs below `reset:`"));
}

TEST(RebootStep, HasADeadline) {
    EXPECT_EQ(only_step<RebootStep>(accepted(step("reboot:"))).deadline, Milliseconds(900'000));
    EXPECT_EQ(only_step<RebootStep>(accepted(step("reboot: {deadline: 30m}"))).deadline,
              Milliseconds(1'800'000));
    EXPECT_THAT(refused(step("reboot: {deadline: 30s}")), HasSubstr("write 1m to 2h"));
    EXPECT_THAT(refused(step("reboot: {deadline: 3h}")), HasSubstr("write 1m to 2h"));
    EXPECT_THAT(refused(step("reboot: now")), HasSubstr("`reboot` is a mapping, and here is text"));
    EXPECT_THAT(refused(step("reboot:\n    deadline: 3m")), HasSubstr("belongs below `reboot:`"));
}

TEST(CleanShmStep, IsAListOfNamesOrAMapping) {
    const auto plain = only_step<CleanShmStep>(accepted(step("clean_shm: ['nccl-*', torch_*]")));
    EXPECT_THAT(plain.names, ElementsAre("nccl-*", "torch_*"));
    EXPECT_THAT(plain.user, IsEmpty());
    EXPECT_EQ(plain.older_than, Milliseconds(3'600'000));
    EXPECT_THAT(only_step<CleanShmStep>(accepted(step("clean_shm: psm_*"))).names, ElementsAre("psm_*"));
    const auto whole = only_step<CleanShmStep>(accepted(
        step("clean_shm:\n      names: [sem.loky-*]\n      user: [ann, 1001]\n      older_than: 7d")));
    EXPECT_THAT(whole.names, ElementsAre("sem.loky-*"));
    EXPECT_THAT(whole.user, ElementsAre("ann", "1001"));
    EXPECT_EQ(whole.older_than, Milliseconds(7 * 86'400'000));
}

TEST(CleanShmStep, NeedsNamesThatAreMeant) {
    for (const char* text : {"clean_shm:", "clean_shm: {}", "clean_shm: {user: ann}", "clean_shm: {names: }"})
        EXPECT_THAT(refused(step(text)), HasSubstr("`clean_shm` names no files")) << text;
    EXPECT_THAT(refused(step("clean_shm: []")), HasSubstr("`clean_shm` is an empty list"));
    EXPECT_THAT(refused(step("clean_shm: ['*']")),
                StartsWith("p.yaml:2:17: `clean_shm`: `*` would match too much"));
    EXPECT_THAT(refused(step("clean_shm: [/dev/shm/nccl-x]")), HasSubstr("has the character '/'"));
    EXPECT_THAT(refused(step("clean_shm: {names: abc, older_than: 30s}")), HasSubstr("write 1m to 87600h"));
    EXPECT_THAT(refused(step("clean_shm: {name: abc}")), HasSubstr("did you mean `names`?"));
    EXPECT_THAT(refused(step("clean_shm: [abc]\n    names: [x]")), HasSubstr("belongs below `clean_shm:`"));
}

}  // namespace
}  // namespace cleanslate::playbooks
