#include "playbooks/params.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "transcript.hpp"

namespace cleanslate::playbooks {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::string_literals;

// A playbook with `params` and one step that matches `${pattern}`.
std::string with_params(const std::string& params, const std::string& pattern = "${pattern}") {
    return "params:\n" + params + "steps:\n  - signal: TERM\n    match: {cmdline: '" + pattern + "'}\n";
}

std::string pattern_of(const std::string& yaml, const Settings& settings = {}) {
    return only_step<SignalStep>(accepted(yaml, settings)).match.cmdline.at(0);
}

TEST(Params, ADefaultIsUsedWhereNothingIsSet) {
    EXPECT_EQ(pattern_of(with_params("  pattern: sglang\n")), "sglang");
    EXPECT_EQ(pattern_of(with_params("  pattern: {default: sglang}\n")), "sglang");
    EXPECT_EQ(pattern_of(with_params("  pattern: 8080\n")), "8080");
}

TEST(Params, ASettingWinsOverTheDefault) {
    EXPECT_EQ(pattern_of(with_params("  pattern: sglang\n"), {{"pattern", "vllm"}}), "vllm");
}

TEST(Params, AreListedWithDefaultAndDescription) {
    const auto playbook =
        accepted(with_params("  pattern: {default: sglang, description: what to end}\n  user:\n",
                             "${pattern} ${user}"),
                 {{"user", "ann"}});
    ASSERT_EQ(playbook.params.size(), 2U);
    EXPECT_EQ(playbook.params[0].name, "pattern");
    EXPECT_EQ(playbook.params[0].fallback, "sglang");
    EXPECT_EQ(playbook.params[0].description, "what to end");
    EXPECT_EQ(playbook.params[1].name, "user");
    EXPECT_EQ(playbook.params[1].fallback, std::nullopt);
}

TEST(Params, OneWithoutDefaultMustBeSet) {
    EXPECT_THAT(
        refused(with_params("  pattern:\n")),
        AllOf(StartsWith("p.yaml:2:3: param `pattern` has no value"), HasSubstr("--set pattern=VALUE")));
    EXPECT_THAT(refused(with_params("  pattern: {description: what to end}\n")), HasSubstr("has no value"));
}

TEST(Params, ASettingThatNoParamNamesIsRefusedWithTheNearest) {
    EXPECT_EQ(refused(with_params("  pattern: sglang\n"), {{"patern", "vllm"}}),
              "p.yaml: --set patern: there is no such param -> did you mean `pattern`? its params: pattern");
    EXPECT_THAT(refused("steps:\n  - verify:\n", {{"x", "1"}}), EndsWith("-> this playbook has no params"));
}

TEST(Params, AnUnknownNameInAValueIsRefusedWithItsPlace) {
    EXPECT_EQ(refused(with_params("  pattern: sglang\n", "${patern}")),
              "p.yaml:5:22: there is no param `patern` -> did you mean ${pattern}? name it under `params:`, "
              "or write "
              "$${ for the two characters ${");
    EXPECT_THAT(refused("steps:\n  - run: echo ${HOME}\n"),
                StartsWith("p.yaml:2:10: there is no param `HOME`"));
    EXPECT_THAT(refused("steps:\n  - run: echo ${HOME\n"), HasSubstr("never closed"));
    EXPECT_THAT(refused("steps:\n  - run: echo ${}\n"), HasSubstr("no param ``"));
}

TEST(Params, OneThatNothingUsesIsRefused) {
    EXPECT_THAT(refused(with_params("  pattern: sglang\n  user: ann\n")),
                AllOf(StartsWith("p.yaml:3:3: param `user` is used by no step"), HasSubstr("write ${user}")));
}

TEST(Params, OneThatOnlyProtectUsesIsUsed) {
    const auto playbook =
        accepted("params: {monitor: gpuwatch}\nprotect: ['${monitor}']\nsteps:\n  - verify:\n");
    EXPECT_THAT(playbook.protect, testing::ElementsAre("gpuwatch"));
}

TEST(Params, TwoDollarsAreOneAndASingleOneStays) {
    EXPECT_EQ(pattern_of(with_params("  pattern: sglang\n", "${pattern}$")), "sglang$");
    EXPECT_EQ(pattern_of(with_params("  pattern: sglang\n", "^a$|${pattern}")), "^a$|sglang");
    EXPECT_EQ(
        only_step<RunStep>(accepted("steps:\n  - run: 'echo $HOME $$HOME $${HOME} $(id) $$$$ $'\n")).command,
        "echo $HOME $HOME ${HOME} $(id) $$ $");
}

TEST(Params, AValueIsInsertedAsItIsAndNotLookedThroughAgain) {
    EXPECT_EQ(pattern_of(with_params("  pattern: sglang\n"), {{"pattern", "x$$"}}), "x$$");
    EXPECT_EQ(pattern_of(with_params("  pattern: sglang\n", "${pattern}x"), {{"pattern", "\\$.pattern"}}),
              "\\$.patternx");
    EXPECT_EQ(pattern_of(with_params("  pattern: '$$x'\n")), "$$x");
}

TEST(Params, AValueCanNotChangeTheShapeOfThePlaybook) {
    const std::string yaml =
        "params: {pattern: sglang}\nsteps:\n  - signal: TERM\n    match: {cmdline: '${pattern}'}\n";
    const std::string hostile = "x', tree: true}\n  - run: reboot #";
    EXPECT_THAT(refused(yaml, {{"pattern", hostile}}), HasSubstr("line break"));
    EXPECT_EQ(pattern_of(yaml, {{"pattern", "x', tree: true"}}), "x', tree: true");
    EXPECT_FALSE(only_step<SignalStep>(accepted(yaml, {{"pattern", "x, tree: true"}})).match.tree);
    for (const char* word :
         {"null", "true", "~", "!tag", "&x", "- y", "x: y", "x # y", "'", "\"", "[{]y", "%x"})
        EXPECT_EQ(pattern_of(yaml, {{"pattern", word}}), word);
}

TEST(Params, AValueIsJudgedWhereItIsUsed) {
    const std::string yaml =
        "params: {grace: 10s, count: 2, deep: 'true'}\nsteps:\n  - signal: TERM\n    match: {name: vllm, "
        "pid: "
        "'${count}', tree: \"${deep}\"}\n    wait: ${grace}\n";
    const auto step = only_step<SignalStep>(accepted(yaml, {{"grace", "3s"}, {"count", "77"}}));
    EXPECT_EQ(step.wait, Milliseconds(3000));
    EXPECT_THAT(step.match.pid, testing::ElementsAre(77));
    EXPECT_TRUE(step.match.tree);
    EXPECT_THAT(refused(yaml, {{"grace", "3"}}), StartsWith("p.yaml:5:11: `wait`: \"3\" is not a duration"));
    EXPECT_THAT(refused(yaml, {{"count", "1"}}), HasSubstr("pid 1 is never signalled"));
    EXPECT_THAT(refused(yaml, {{"count", ""}}), StartsWith("p.yaml:4:30: pid"));
}

TEST(Params, NamesAreLettersDigitsAndUnderscores) {
    for (const char* name : {"a-b", "1x", "'a b'", "''", "ü"})
        EXPECT_THAT(refused("params: {" + std::string(name) + ": x}\nsteps:\n  - verify:\n"),
                    AllOf(StartsWith("p.yaml:1:10: "), HasSubstr("no name for a param")))
            << name;
}

TEST(Params, OfAnotherShapeAreRefused) {
    EXPECT_THAT(refused("params: [a]\nsteps:\n  - verify:\n"),
                StartsWith("p.yaml:1:9: `params` is a mapping, and here is list"));
    EXPECT_THAT(refused(with_params("  pattern: [a, b]\n")),
                StartsWith("p.yaml:2:12: the default of pattern: found a list"));
    EXPECT_THAT(refused(with_params("  pattern: {defualt: x}\n")), HasSubstr("did you mean `default`?"));
    EXPECT_THAT(refused(with_params("  pattern: {default: }\n")), HasSubstr("empty default"));
    EXPECT_THAT(refused(with_params("  pattern: {default: x, description: \"a\\nb\"}\n")),
                HasSubstr("`description` is not one line"));
    EXPECT_THAT(refused(with_params("  pattern: !secret x\n")), HasSubstr("tags are not used here"));
    EXPECT_EQ(accepted("params:\nsteps:\n  - verify:\n").params.size(), 0U);
}

TEST(Params, ThatAreTooBigAreRefused) {
    EXPECT_THAT(refused(with_params("  pattern: x\n"), {{"pattern", std::string(4097, 'a')}}),
                HasSubstr("--set pattern: the value is longer than 4096 bytes"));
    EXPECT_THAT(refused(with_params("  pattern: x\n"), {{"pattern", "a\0b"s}}), HasSubstr("NUL"));
    std::string many = "params:\n";
    for (int i = 0; i < 101; ++i) many += "  p" + std::to_string(i) + ": x\n";
    EXPECT_THAT(refused(many + "steps:\n  - verify:\n"), HasSubstr("101 params"));
    std::string long_text;
    for (int i = 0; i < 20; ++i) long_text += "${x}";
    EXPECT_THAT(refused("params: {x: ''}\nsteps:\n  - run: echo " + long_text + "\n",
                        {{"x", std::string(4000, 'a')}}),
                StartsWith("p.yaml:3:10: a text of more than 64 KiB"));
}

}  // namespace
}  // namespace cleanslate::playbooks
