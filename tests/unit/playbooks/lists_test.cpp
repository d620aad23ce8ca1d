// Keys that take one entry or a list, as they stand in a playbook.
#include "playbooks/lists.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "transcript.hpp"

namespace cleanslate::playbooks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

std::string step_with(const std::string& match) {
    return "params: {list: '0,3'}\nsteps:\n  - signal: TERM\n    match: {cmdline: vllm, " + match +
           "}\n  - run: 'true ${list}'\n";
}

Match match_of(const std::string& match, const Settings& settings = {}) {
    const auto playbook = accepted(step_with(match), settings);
    return playbook.steps.empty() ? Match{} : std::get<SignalStep>(playbook.steps[0].action).match;
}

TEST(List, OneEntryNeedsNoBrackets) {
    EXPECT_THAT(match_of("exe: python").exe, ElementsAre("python"));
    EXPECT_THAT(match_of("exe: [python, ruby]").exe, ElementsAre("python", "ruby"));
    EXPECT_THAT(match_of("gpus: 3").gpus, ElementsAre("3"));
    EXPECT_THAT(match_of("gpus: [3, '0']").gpus, ElementsAre("3", "0"));
}

TEST(List, AnEmptyOneIsRefused) {
    for (const char* key : {"exe", "name", "pid", "gpus", "user", "slurm_job", "unit"})
        EXPECT_THAT(refused(step_with(std::string(key) + ": []")),
                    HasSubstr(" `" + std::string(key) + "` is an empty list -> name at least one"))
            << key;
}

TEST(List, AnEntryThatIsNoneIsRefusedInItsPlace) {
    EXPECT_THAT(refused(step_with("user: [alice, ~]")), StartsWith("p.yaml:4:42: "));
    EXPECT_THAT(refused(step_with("user: [alice, [bob]]")), HasSubstr("found a list"));
    EXPECT_THAT(refused(step_with("user: {alice: 1}")), HasSubstr("found a mapping"));
    EXPECT_THAT(refused(step_with("user: ")), HasSubstr("found nothing"));
    EXPECT_THAT(refused(step_with("user: !mine [alice]")), HasSubstr("tags are not used here"));
    EXPECT_THAT(refused(step_with("gpus: [0, 2000]")),
                StartsWith("p.yaml:4:38: `gpus`: `2000` is neither the index nor the uuid"));
}

TEST(List, HasAtMost256Entries) {
    std::string list = "0", names = "u0";
    for (int i = 1; i < 256; ++i) {
        list += "," + std::to_string(i);
        names += ", u" + std::to_string(i);
    }
    EXPECT_THAT(match_of("gpus: [" + list + "]").gpus, SizeIs(256));
    EXPECT_THAT(refused(step_with("gpus: [" + list + ",256]")), HasSubstr("`gpus` has 257 entries"));
    EXPECT_THAT(refused(step_with("gpus: '" + list + ",256'")), HasSubstr("more than 256 entries"));
    EXPECT_THAT(refused(step_with("user: [" + names + ", u256]")), HasSubstr("`user` has 257 entries"));
}

TEST(List, OneTextMayNameSeveralGpusAndUsers) {
    EXPECT_THAT(match_of("gpus: '0, 3'").gpus, ElementsAre("0", "3"));
    EXPECT_THAT(match_of("gpus: '${list}'").gpus, ElementsAre("0", "3"));
    EXPECT_THAT(match_of("gpus: '${list}'", {{"list", "5"}}).gpus, ElementsAre("5"));
    EXPECT_THAT(match_of("user: 'alice,1000'").user, ElementsAre("alice", "1000"));
    EXPECT_THAT(match_of("not_user: '${list}'", {{"list", "alice,bob"}}).not_user,
                ElementsAre("alice", "bob"));
    for (const char* text : {"'0,'", "',0'", "'0,,3'", "','", "''"})
        EXPECT_THAT(refused(step_with("gpus: " + std::string(text))), HasSubstr("an empty entry")) << text;
    EXPECT_THAT(refused(step_with("gpus: ['0,3']")), HasSubstr("`0,3` is neither")) << "one entry, one GPU";
    EXPECT_THAT(refused(step_with("slurm_job: '1,2'")), HasSubstr("`1,2` is no id"));
}

TEST(List, AGpuTwiceIsRefusedAndAUserTwiceIsOne) {
    EXPECT_THAT(refused(step_with("gpus: [0, 3, 0]")), HasSubstr("`gpus` names 0 twice"));
    EXPECT_THAT(refused(step_with("gpus: '0,0'")), HasSubstr("`gpus` names 0 twice"));
    EXPECT_THAT(match_of("user: [alice, bob, alice]").user, ElementsAre("alice", "bob"));
}

TEST(List, NoneMayStandBesideNamesAndAnyMayNot) {
    EXPECT_THAT(match_of("slurm_job: none").slurm_job, ElementsAre("none"));
    EXPECT_THAT(match_of("slurm_job: [none, 42]").slurm_job, ElementsAre("none", "42"));
    EXPECT_THAT(match_of("unit: any").unit, ElementsAre("any"));
    EXPECT_THAT(match_of("unit: [any, any]").unit, ElementsAre("any"));
    EXPECT_THAT(refused(step_with("unit: [any, ollama.service]")),
                HasSubstr("`unit` has `any` beside others, which it covers -> write `any` alone"));
    EXPECT_THAT(refused(step_with("pod: [none, any]")), HasSubstr("means everybody"));
}

TEST(List, AHostileEntryIsShownHarmless) {
    const auto said = refused(step_with("user: \"a\\e[2J\""));
    EXPECT_THAT(said, HasSubstr("\\x1B"));
    EXPECT_EQ(said.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::playbooks
