#include "playbooks/playbook.hpp"

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

const std::string verify = "steps:\n  - verify:\n";

TEST(Playbook, WithEveryTopLevelKey) {
    const auto playbook = accepted(
        "version: 1\nname: night\ndescription: Ends what is left at night.\nparams: {pattern: vllm}\n"
        "protect: [gpuwatch, ollama.service]\nmax_kills: 64\nscheduled_hosts_only: true\nsteps:\n  - signal: "
        "TERM\n    match: {cmdline: "
        "'${pattern}'}\n");
    EXPECT_EQ(playbook.name, "night");
    EXPECT_EQ(playbook.description, "Ends what is left at night.");
    EXPECT_EQ(playbook.params.size(), 1U);
    EXPECT_THAT(playbook.protect, ElementsAre("gpuwatch", "ollama.service"));
    EXPECT_EQ(playbook.steps.size(), 1U);
    EXPECT_TRUE(playbook.needs_all_processes());
    EXPECT_EQ(playbook.max_kills, 64);
    EXPECT_TRUE(playbook.scheduled_hosts_only);
}

TEST(Playbook, NeedsOnlySteps) {
    const auto playbook = accepted(verify);
    EXPECT_EQ(playbook.name, "p");
    EXPECT_EQ(playbook.description, "");
    EXPECT_THAT(playbook.params, IsEmpty());
    EXPECT_THAT(playbook.protect, IsEmpty());
    EXPECT_FALSE(playbook.needs_all_processes());
    EXPECT_EQ(playbook.max_kills, std::nullopt);
    EXPECT_FALSE(playbook.scheduled_hosts_only);
}

TEST(Playbook, LimitsAreWithinTheirRanges) {
    EXPECT_EQ(accepted("max_kills: 1\n" + verify).max_kills, 1);
    EXPECT_EQ(accepted("max_kills: 100000\n" + verify).max_kills, 100'000);
    EXPECT_EQ(accepted("params: {most: 5}\nmax_kills: ${most}\n" + verify, {{"most", "7"}}).max_kills, 7);
    EXPECT_EQ(refused("max_kills: 0\n" + verify),
              "p.yaml:1:12: `max_kills` is 0 -> write a number from 1 to 100000");
    for (const char* value : {"100001", "-1", "all", "'5'", "[5]", "~"})
        EXPECT_THAT(refused("max_kills: " + std::string(value) + "\n" + verify), StartsWith("p.yaml:1:"))
            << value;
    EXPECT_FALSE(accepted("scheduled_hosts_only: false\n" + verify).scheduled_hosts_only);
    for (const char* value : {"yes", "1", "'true'", ""})
        EXPECT_THAT(refused("scheduled_hosts_only: " + std::string(value) + "\n" + verify),
                    HasSubstr("true or false"))
            << value;
    EXPECT_THAT(refused("max_kill: 3\n" + verify), HasSubstr("did you mean `max_kills`?"));
}

TEST(Playbook, IsNamedAfterItsFile) {
    const auto name = [](std::string_view file) { return parse_playbook(verify, file)->name; };
    EXPECT_EQ(name("/etc/cleanslate/night.yaml"), "night");
    EXPECT_EQ(name("night.yml"), "night");
    EXPECT_EQ(name("/dev/fd/63"), "63");
    EXPECT_EQ(name(".yaml"), ".yaml");
}

TEST(Playbook, OfAnotherVersionIsRefused) {
    EXPECT_THAT(refused("version: 2\n" + verify),
                AllOf(StartsWith("p.yaml:1:10: `version` is 2"), HasSubstr("version: 1")));
    EXPECT_THAT(refused("version: '1'\n" + verify), HasSubstr("integer"));
    EXPECT_THAT(refused("version:\n" + verify), HasSubstr("integer"));
}

TEST(Playbook, AnUnknownKeyIsRefusedWithTheNearest) {
    EXPECT_EQ(refused("stpes:\n  - verify:\n"),
              "p.yaml:1:1: a playbook has no key `stpes` -> did you mean `steps`? known here: version, name, "
              "description, params, protect, max_kills, scheduled_hosts_only or steps");
    EXPECT_THAT(refused("protcet: [x]\n" + verify), HasSubstr("did you mean `protect`?"));
    EXPECT_THAT(refused(verify + "unprotect: [x]\n"),
                HasSubstr("p.yaml:3:1: a playbook has no key `unprotect`"));
    EXPECT_THAT(refused("\"a\\eb\": 1\n" + verify), HasSubstr("no key `a\\x1Bb`"));
}

TEST(Playbook, WithoutStepsIsRefused) {
    EXPECT_THAT(refused("name: x\n"), StartsWith("p.yaml:1:1: a playbook without `steps`"));
    for (const char* empty : {"", "\n", "# only a comment\n", "---\n", "~"})
        EXPECT_THAT(refused(empty), HasSubstr("an empty playbook")) << empty;
}

TEST(Playbook, OfAnotherShapeIsRefused) {
    EXPECT_THAT(refused("- signal: TERM\n"),
                StartsWith("p.yaml:1:1: a playbook is a mapping, and here is list"));
    EXPECT_THAT(refused("sglang\n"), HasSubstr("here is text"));
    EXPECT_THAT(refused("!playbook\n" + verify), HasSubstr("tags are not used here"));
    EXPECT_THAT(refused("name: [x]\n" + verify), HasSubstr("found a list"));
    EXPECT_THAT(refused("name: !x y\n" + verify), HasSubstr("tags are not used here"));
    EXPECT_THAT(refused("description:\n" + verify), HasSubstr("found nothing"));
}

TEST(Playbook, ThatIsNoYamlIsRefusedWithItsPlace) {
    EXPECT_THAT(refused("steps: [\n"), StartsWith("p.yaml:"));
    EXPECT_THAT(refused(verify + "steps:\n  - verify:\n"),
                AllOf(StartsWith("p.yaml:3:1: "), HasSubstr("duplicate key")));
    EXPECT_THAT(refused(verify + "---\n" + verify), HasSubstr("second document"));
    EXPECT_THAT(refused("steps: *none\n"), StartsWith("p.yaml:1:"));
    EXPECT_THAT(refused("steps:\n\t- verify:\n"), StartsWith("p.yaml:2:"));
}

TEST(Playbook, AHostileOneIsRefusedAndDoesNoHarm) {
    EXPECT_THAT(refused(std::string(2 * 1024 * 1024, 'a')), HasSubstr("more than 1 MiB"));
    refused(std::string(100'000, '['));
    refused(std::string("steps: \0 - verify", 17));
    refused("steps: \xff\xfe\n");
    std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
    for (char c = 'b'; c <= 'i'; ++c) {
        bomb += std::string(1, c) + ": &" + c + " [";
        for (int i = 0; i < 9; ++i) bomb += std::string(i == 0 ? "" : ",") + "*" + static_cast<char>(c - 1);
        bomb += "]\n";
    }
    EXPECT_THAT(refused(bomb), HasSubstr("expand"));
}

TEST(Playbook, ANameIsOneShortLine) {
    for (const char* name : {"''", "\"a\\nb\"", "\"a\\eb\""})
        EXPECT_THAT(refused("name: " + std::string(name) + "\n" + verify), HasSubstr("not one short line"))
            << name;
}

TEST(Playbook, ADescriptionMayHaveSeveralLines) {
    EXPECT_EQ(accepted("description: |\n  one\n  two\n" + verify).description, "one\ntwo");
    EXPECT_THAT(refused("description: \"a\\e[2Jb\"\n" + verify),
                StartsWith("p.yaml:1:14: `description` has control"));
}

TEST(Protect, IsAListOfWholeNames) {
    EXPECT_THAT(accepted("protect: [a, b, a]\n" + verify).protect, ElementsAre("a", "b"));
    EXPECT_THAT(accepted("protect:\n" + verify).protect, IsEmpty());
    EXPECT_THAT(
        refused("protect: gpuwatch\n" + verify),
        AllOf(StartsWith("p.yaml:1:10: `protect` is a list, and here is text"), HasSubstr("[NAME, NAME]")));
    for (const char* name : {"''", "' a'", "\"a\\nb\"", "~", "[]", "{a: b}"})
        EXPECT_THAT(refused("protect: [" + std::string(name) + "]\n" + verify), StartsWith("p.yaml:1:11: "))
            << name;
}

TEST(Protect, AnEntryThatCouldNeverMatchIsRefused) {
    EXPECT_THAT(refused("protect: [bin/gpuwatch]\n" + verify),
                AllOf(StartsWith("p.yaml:1:11: `bin/gpuwatch` in `protect` is half a path"),
                      HasSubstr("the file's own name: gpuwatch")));
    for (const char* name : {"gpu?", "g*pu", "*watch", "gpu[01]", "gpu*.service", "gpu**"})
        EXPECT_THAT(refused("protect: ['" + std::string(name) + "']\n" + verify), HasSubstr("is a pattern"))
            << name;
}

TEST(Protect, AWholePathAndABeginningAreEntries) {
    EXPECT_THAT(accepted("protect: [/opt/watch/gpuwatch, gpuwatch*, 'watch me']\n" + verify).protect,
                ElementsAre("/opt/watch/gpuwatch", "gpuwatch*", "watch me"));
    EXPECT_THAT(refused("protect: ['*']\n" + verify), HasSubstr("would protect every process"));
}

TEST(Playbook, NeedsAllProcessesWhereOneStepHasAPattern) {
    const std::string holders = "steps:\n  - signal: TERM\n    match: {holding: gpu}\n";
    EXPECT_FALSE(accepted(holders).needs_all_processes());
    EXPECT_FALSE(accepted("steps:\n  - signal: TERM\n    match: {gpus: 0, user: ann, slurm_job: none}\n")
                     .needs_all_processes());
    EXPECT_TRUE(accepted("steps:\n  - stop: mps\n").needs_all_processes());
    EXPECT_TRUE(accepted("steps:\n  - reboot:\n").needs_all_processes());
    EXPECT_TRUE(accepted("steps:\n  - reset: {}\n").needs_all_processes());
    EXPECT_TRUE(accepted("steps:\n  - clean_shm: {names: 'nccl-*'}\n").needs_all_processes());
    EXPECT_TRUE(accepted("scheduled_hosts_only: true\n" + holders).needs_all_processes());
    for (const char* key :
         {"cmdline: vllm", "name: vllm", "exe: vllm", "pid: 7", "user: ann", "holding: gpu, orphaned: true",
          "holding: gpu, descendants: true", "unit: a.service", "used_at_least: 1GiB", "cgroup: lab"})
        EXPECT_TRUE(accepted(holders + "  - signal: KILL\n    match: {" + key + "}\n").needs_all_processes())
            << key;
}

TEST(Playbook, KnowsWhichFilesOfDevShmItIsAbout) {
    EXPECT_THAT(
        accepted("steps:\n  - clean_shm: [nccl-*, abc]\n  - verify:\n  - clean_shm: psm_*\n").shm_names(),
        ElementsAre("nccl-*", "abc", "psm_*"));
    EXPECT_THAT(accepted(verify).shm_names(), IsEmpty());
}

}  // namespace
}  // namespace cleanslate::playbooks
