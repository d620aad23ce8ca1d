// `match:` of a signal or stop step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "transcript.hpp"

namespace cleanslate::playbooks {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string step_with(const std::string& match) {
    return "steps:\n  - signal: TERM\n    match: " + match + "\n";
}

Match match_of(const std::string& match) { return only_step<SignalStep>(accepted(step_with(match))).match; }

TEST(Match, HoldersOfAGpu) {
    const auto match = match_of("{holding: gpu}");
    EXPECT_TRUE(match.holding_gpu);
    EXPECT_FALSE(match.tree);
    EXPECT_FALSE(match.needs_all_processes());
}

TEST(Match, HoldersWithTheirLaunchers) { EXPECT_TRUE(match_of("{holding: gpu, tree: true}").tree); }

TEST(Match, PatternsOfCommandLineNameAndExecutable) {
    const auto match = match_of(
        "\n      cmdline: sglang[.]launch_server\n      name: ^python3$\n      exe: '/python[0-9.]*$'");
    EXPECT_THAT(match.cmdline, testing::ElementsAre("sglang[.]launch_server"));
    EXPECT_THAT(match.name, testing::ElementsAre("^python3$"));
    EXPECT_THAT(match.exe, testing::ElementsAre("/python[0-9.]*$"));
    EXPECT_FALSE(match.holding_gpu);
    EXPECT_TRUE(match.needs_all_processes());
}

TEST(Match, APid) {
    EXPECT_THAT(match_of("{pid: 4242}").pid, testing::ElementsAre(4242));
    EXPECT_THAT(match_of("{pid: 4194304}").pid, testing::ElementsAre(4194304));
    EXPECT_THAT(refused(step_with("{pid: 1}")), StartsWith("p.yaml:3:18: pid 1 is never signalled"));
    EXPECT_THAT(refused(step_with("{pid: 0}")), HasSubstr("write a number from 1 to 4194304"));
    EXPECT_THAT(refused(step_with("{pid: -5}")), HasSubstr("`pid` is -5"));
    EXPECT_THAT(refused(step_with("{pid: 4194305}")), HasSubstr("`pid` is 4194305"));
    EXPECT_THAT(refused(step_with("{pid: 99999999999999999999}")), HasSubstr("integer"));
    EXPECT_THAT(refused(step_with("{pid: '4242'}")), HasSubstr("integer"));
    EXPECT_THAT(refused(step_with("{pid: 4242x}")), HasSubstr("integer"));
    EXPECT_THAT(match_of("{pid: [4242, 7]}").pid, testing::ElementsAre(4242, 7));
    EXPECT_THAT(refused(step_with("{pid: [7, 1]}")), StartsWith("p.yaml:3:22: pid 1 is never signalled"));
    EXPECT_THAT(refused(step_with("{pid: [7, x]}")), HasSubstr("integer"));
    EXPECT_THAT(refused(step_with("{pid: []}")), HasSubstr("`pid` is an empty list"));
}

TEST(Match, AnEmptyOneIsRefused) {
    for (const char* match : {"", "{}", "~"})
        EXPECT_THAT(refused(step_with(match)), AllOf(HasSubstr("an empty `match` would mean every process"),
                                                     HasSubstr("`holding: gpu`")))
            << match;
}

TEST(Match, TreeAlonePicksNothing) {
    EXPECT_THAT(refused(step_with("{tree: true}")), StartsWith("p.yaml:3:12: `tree` alone picks no process"));
    EXPECT_THAT(refused(step_with("{tree: false}")), HasSubstr("`tree` alone"));
}

TEST(Match, KeysThatOnlyNarrowDownPickNothing) {
    for (const char* match : {"{descendants: true}", "{not_user: root}", "{uid_at_least: 1000}",
                              "{older_than: 12h}", "{not_cgroup: prod}", "{slurm_job: none}", "{pod: none}",
                              "{container: any}", "{unit: any}", "{unit: [none, ollama.service]}"})
        EXPECT_THAT(refused(step_with(match)),
                    AllOf(HasSubstr(" alone picks no process"), HasSubstr("at least one key that picks")))
            << match;
    EXPECT_THAT(
        refused(step_with("{uid_at_least: 1000, older_than: 1h, tree: true}")),
        StartsWith("p.yaml:3:12: `uid_at_least`, `older_than` and `tree` alone pick no process: it "));
}

TEST(Match, EachKeyThatPicksIsEnough) {
    for (const char* match :
         {"{holding: gpu}", "{gpus: 0}", "{cmdline: vllm}", "{name: vllm}", "{exe: vllm}", "{pid: 7}",
          "{cgroup: lab}", "{user: alice}", "{orphaned: true}", "{used_at_least: 1GiB}", "{slurm_job: 42}",
          "{pod: 12345678-1234-1234-1234-123456789abc}", "{container: 0123456789ab}",
          "{unit: ollama.service}", "{unit: [a.service, b*]}"})
        EXPECT_TRUE(match_of(match).picks()) << match;
}

TEST(Match, WithEveryKey) {
    const auto match = match_of(
        "\n      holding: gpu\n      gpus: [0, 3]\n      user: [alice, 1001]\n      not_user: root\n"
        "      uid_at_least: 1000\n      older_than: 12h\n      used_at_least: 1GiB\n"
        "      orphaned: true\n      cgroup: [user, lab]\n      not_cgroup: prod\n"
        "      slurm_job: none\n      pod: none\n      container: none\n      unit: none\n"
        "      tree: true\n      descendants: true");
    EXPECT_THAT(match.gpus, testing::ElementsAre("0", "3"));
    EXPECT_THAT(match.user, testing::ElementsAre("alice", "1001"));
    EXPECT_THAT(match.not_user, testing::ElementsAre("root"));
    EXPECT_EQ(match.uid_at_least, 1000U);
    EXPECT_EQ(match.older_than, Milliseconds(12 * 3'600'000));
    EXPECT_EQ(match.used_at_least, Mebibytes{1024});
    EXPECT_TRUE(match.holding_gpu && match.orphaned && match.tree && match.descendants);
    EXPECT_THAT(match.cgroup, testing::ElementsAre("user", "lab"));
    EXPECT_THAT(match.not_cgroup, testing::ElementsAre("prod"));
    for (const auto* owners : {&match.slurm_job, &match.pod, &match.container, &match.unit})
        EXPECT_THAT(*owners, testing::ElementsAre("none"));
    EXPECT_TRUE(match.needs_all_processes());
}

TEST(Match, NumbersAndTimesAreWithinTheirRanges) {
    EXPECT_EQ(match_of("{user: a, uid_at_least: 0}").uid_at_least, 0U);
    EXPECT_EQ(match_of("{user: a, uid_at_least: 4294967294}").uid_at_least, 4294967294U);
    for (const char* value : {"4294967295", "-1", "root", "'1000'", "1000.5", ""})
        EXPECT_THAT(refused(step_with("{user: a, uid_at_least: " + std::string(value) + "}")),
                    StartsWith("p.yaml:3:"))
            << value;
    EXPECT_THAT(refused(step_with("{user: a, older_than: 0s}")),
                StartsWith("p.yaml:3:34: `older_than` is 0s -> write 1s to 87600h"));
    EXPECT_THAT(refused(step_with("{user: a, older_than: 12}")), HasSubstr("not a duration"));
    EXPECT_THAT(refused(step_with("{user: a, older_than: 1500ms}")), HasSubstr("whole number of seconds"));
    EXPECT_THAT(refused(step_with("{used_at_least: 0MiB}")), HasSubstr("would mean every process"));
    EXPECT_THAT(refused(step_with("{used_at_least: 100}")), HasSubstr("not a size"));
}

TEST(Match, OrphanedIsTrueOrLeftOut) {
    EXPECT_THAT(refused(step_with("{holding: gpu, orphaned: false}")),
                StartsWith("p.yaml:3:37: `orphaned: false` would leave nobody out"));
    EXPECT_THAT(refused(step_with("{orphaned: yes}")), HasSubstr("true or false"));
    EXPECT_FALSE(match_of("{holding: gpu, descendants: false}").descendants);
}

TEST(Match, ThatNoProcessCouldFitIsRefused) {
    EXPECT_THAT(refused(step_with("{user: ann, not_user: [bob, ann]}")),
                StartsWith("p.yaml:3:34: no process could match: `not_user` names every `user`"));
    EXPECT_THAT(refused(step_with("{cgroup: lab, not_cgroup: lab}")), HasSubstr("no process could match"));
    EXPECT_THAT(refused(step_with("{user: [root, 999], uid_at_least: 1000}")),
                HasSubstr("every `user` is below uid 1000"));
    for (const char* owner : {"slurm_job: any", "slurm_job: 42", "unit: a.service", "container: any"})
        EXPECT_THAT(refused(step_with("{orphaned: true, " + std::string(owner) + "}")),
                    AllOf(HasSubstr("is not orphaned"), HasSubstr(": none`")))
            << owner;
}

TEST(Match, OfTwoOwnersAtOnceIsRefused) {
    EXPECT_EQ(
        refused(step_with("{holding: gpu, pod: any, container: 0123456789ab}")),
        "p.yaml:3:48: no process could match: nobody belongs to a `pod` and a `container` at once -> keep "
        "one of the two: what counts is the job, else the pod, the container, the unit");
    EXPECT_THAT(refused(step_with("{slurm_job: 42, unit: [a.service, b*]}")), HasSubstr("at once"));
    EXPECT_TRUE(match_of("{slurm_job: [none, 42], unit: a.service, pod: none}").picks());
}

TEST(Match, ThatSomeProcessFitsIsKept) {
    for (const char* match :
         {"{user: [ann, bob], not_user: ann}", "{user: [root, ann], uid_at_least: 1000}",
          "{user: 1000, uid_at_least: 1000}", "{orphaned: true, slurm_job: [none, 42]}",
          "{cgroup: [lab, web], not_cgroup: lab}", "{holding: gpu, slurm_job: none, unit: any}"})
        EXPECT_TRUE(match_of(match).picks()) << match;
}

TEST(Match, TreeIsTrueOrFalse) {
    EXPECT_FALSE(match_of("{holding: gpu, tree: false}").tree);
    for (const char* value : {"yes", "'true'", "1", "[]", ""})
        EXPECT_THAT(refused(step_with("{holding: gpu, tree: " + std::string(value) + "}")),
                    HasSubstr("true or false"))
            << value;
}

TEST(Match, HoldingKnowsOnlyGpu) {
    EXPECT_THAT(refused(step_with("{holding: cpu}")),
                StartsWith("p.yaml:3:22: `holding: cpu` -> write `holding: gpu`"));
    EXPECT_THAT(refused(step_with("{holding: [gpu]}")), HasSubstr("found a list"));
    EXPECT_THAT(refused(step_with("{holding: }")), HasSubstr("found nothing"));
}

TEST(Match, ASlipIsRefusedWithWhatWasMeant) {
    EXPECT_THAT(refused(step_with("{holdin: gpu}")),
                StartsWith("p.yaml:3:13: `match` has no key `holdin` -> did you mean `holding`? known here: "
                           "holding, gpus, cmdline, name, exe, pid, user, "));
    EXPECT_THAT(refused(step_with("{cmd_line: x}")), HasSubstr("did you mean `cmdline`?"));
    EXPECT_THAT(refused(step_with("{gpu: 0}")), HasSubstr("did you mean `gpus`?"));
    EXPECT_THAT(refused(step_with("{not_usr: ann}")), HasSubstr("did you mean `not_user`?"));
    EXPECT_THAT(refused(step_with("{owner: ann}")), HasSubstr("unit, tree or descendants"));
}

TEST(Match, AKeyTwiceIsRefused) {
    EXPECT_THAT(refused(step_with("{name: vllm, name: sglang}")), HasSubstr("duplicate key"));
}

TEST(Match, ABadPatternIsRefusedWithItsPlace) {
    EXPECT_THAT(refused(step_with("\n      name: (vllm")),
                StartsWith("p.yaml:4:13: `name`: '(vllm' is not a POSIX extended regular expression"));
    EXPECT_THAT(refused(step_with("\n      cmdline: .*")),
                StartsWith("p.yaml:4:16: `cmdline`: '.*' would match every process"));
    EXPECT_THAT(refused(step_with("\n      exe: ''")), StartsWith("p.yaml:4:12: `exe`: an empty pattern"));
    EXPECT_THAT(refused(step_with("\n      exe:")), HasSubstr("found nothing"));
    EXPECT_THAT(refused(step_with("\n      cmdline: |\n        sglang")), HasSubstr("line break"));
}

TEST(Match, EvenBesideAnotherKeyAPatternMayNotMatchEverything) {
    EXPECT_THAT(refused(step_with("{holding: gpu, cmdline: '.*'}")), HasSubstr("every process"));
}

TEST(Match, TextWhereAMappingBelongsIsRefused) {
    EXPECT_THAT(refused(step_with("sglang")),
                StartsWith("p.yaml:3:12: `match` is a mapping, and here is text"));
    EXPECT_THAT(refused(step_with("[sglang]")), HasSubstr("here is list"));
    EXPECT_THAT(refused(step_with("!mine {holding: gpu}")), HasSubstr("tags are not used here"));
}

TEST(Match, IsMergedFromAnAnchor) {
    const auto playbook = accepted(
        "steps:\n  - signal: TERM\n    match: &who {holding: gpu, exe: python3}\n"
        "  - signal: KILL\n    match: {<<: *who, tree: true}\n");
    ASSERT_EQ(playbook.steps.size(), 2U);
    const auto& second = std::get<SignalStep>(playbook.steps[1].action).match;
    EXPECT_TRUE(second.holding_gpu && second.tree);
    EXPECT_THAT(second.exe, testing::ElementsAre("python3"));
}

}  // namespace
}  // namespace cleanslate::playbooks
