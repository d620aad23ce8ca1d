// `match:` of a signal step.
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
    EXPECT_THAT(refused(step_with("{pid: [4242]}")), HasSubstr("integer"));
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
    EXPECT_EQ(refused(step_with("{holdin: gpu}")),
              "p.yaml:3:13: `match` has no key `holdin` -> did you mean `holding`? known here: holding, "
              "cmdline, name, "
              "exe, pid or tree");
    EXPECT_THAT(refused(step_with("{cmd_line: x}")), HasSubstr("did you mean `cmdline`?"));
    EXPECT_THAT(refused(step_with("{user: ann}")), HasSubstr("known here: holding, cmdline"));
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
