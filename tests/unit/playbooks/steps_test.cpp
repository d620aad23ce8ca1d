#include "playbooks/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Steps, AKeyAtTheWrongPlaceIsToldWhereItBelongs) {
    EXPECT_EQ(refused(step("verify:\n    within: 30s")),
              "p.yaml:3:5: a `verify` step has no key `within` -> `within` belongs below `verify:` or "
              "`reset:`, two blanks further in");
    EXPECT_THAT(refused(signal("TERM") + "    timeout: 3s\n"),
                HasSubstr("`timeout` belongs to a `run` or `stop` step, or below `reset:`"));
    EXPECT_THAT(refused(step("run: x\n    wait: 3s")), HasSubstr("`wait` belongs to a `signal` step"));
    EXPECT_THAT(refused(step("signal: TERM\n    holding: gpu")),
                HasSubstr("`holding` belongs below `match:`"));
    EXPECT_THAT(refused(step("match: {holding: gpu}")),
                HasSubstr("`match` belongs to a `signal` or `stop` step"));
    EXPECT_THAT(refused(step("run: x\n    max_kills: 3")),
                HasSubstr("`max_kills` belongs to the playbook itself, beside `steps:`"));
    EXPECT_THAT(refused(signal("TERM") + "    user: ann\n"),
                HasSubstr("`user` belongs below `match:` or `clean_shm:`"));
}

TEST(Steps, ASlipIsRefusedWithWhatWasMeant) {
    EXPECT_EQ(refused(step("singal: TERM")),
              "p.yaml:2:5: a step has no key `singal` -> did you mean `signal`? known here: signal, stop, "
              "run, verify, reset, reboot, clean_shm or name");
    EXPECT_THAT(refused(step("run: x\n    time_out: 3s")), HasSubstr("did you mean `timeout`?"));
    EXPECT_THAT(refused(step("{}")),
                HasSubstr("a step that does nothing -> write one of signal, stop, run, "));
    EXPECT_THAT(refused(step("name: only a name")), HasSubstr("a step that does nothing"));
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

TEST(Steps, BeforeStandsFirstAndAfterStandsLast) {
    const std::string before = "  - run: a\n    when: before\n", after = "  - run: z\n    when: after\n";
    const std::string verify = "  - verify:\n";
    EXPECT_EQ(accepted("steps:\n" + before + before + verify + after + after).steps.size(), 5U);
    EXPECT_EQ(accepted("steps:\n" + before + after).steps.size(), 2U);
    EXPECT_EQ(
        refused("steps:\n" + verify + before),
        "p.yaml:3:5: a step that runs before all others stands behind one -> move the steps with `when: "
        "before` to the beginning, or leave `when` out");
    EXPECT_THAT(refused("steps:\n" + after + before), HasSubstr("stands behind one"));
    EXPECT_EQ(
        refused("steps:\n" + before + after + verify),
        "p.yaml:6:5: a step stands behind one that runs after all others (line 4) -> move the steps with "
        "`when: after` to the end, or leave `when` out there");
    EXPECT_THAT(refused("steps:\n" + after + "  - run: x\n"), HasSubstr("behind one that runs after"));
}

TEST(Steps, AllJudgeTheHostByTheSameGpus) {
    const std::string some = "  - verify: {gpus: [0, 3]}\n", plain = "  - verify:\n";
    const auto playbook = accepted("steps:\n" + plain + some + "  - verify: {gpus: '3,0'}\n");
    EXPECT_THAT(playbook.judged_gpus(), testing::ElementsAre("0", "3"));
    EXPECT_THAT(accepted("steps:\n" + plain).judged_gpus(), testing::IsEmpty());
    EXPECT_EQ(
        refused("steps:\n" + some + plain + "  - verify: {gpus: 0}\n"),
        "p.yaml:4:5: `verify` here and in line 2 judge the host by other GPUs -> name the same `gpus` in "
        "both, or leave them out in one");
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
