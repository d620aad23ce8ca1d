#include "controller/completion/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cleanslate::controller::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

// What was looked up last, and where.
struct Asked {
    std::optional<Lookup> what;
    Whence whence;
};

struct Answer {
    std::vector<std::string> words;
    std::optional<std::size_t> file_from;
    Asked asked;
};

Answer answer_to(const std::vector<std::string>& typed) {
    Answer answer;
    const auto look = [&](Lookup what, const Whence& whence) {
        answer.asked = {what, whence};
        return std::vector<Candidate>{{"one", ""}, {"other", ""}};
    };
    const Completion completion = complete(command_outline(), typed, look);
    for (const Candidate& candidate : completion.candidates) answer.words.push_back(candidate.text);
    answer.file_from = completion.file_from;
    return answer;
}

TEST(Completion, OfTheFirstWordIsACommand) {
    EXPECT_THAT(answer_to({""}).words, IsSupersetOf({"check", "clear", "history", "completion"}));
    EXPECT_THAT(answer_to({""}).words, Not(Contains("__complete")));
    EXPECT_THAT(answer_to({"cl"}).words, ElementsAre("clear"));
    EXPECT_THAT(answer_to({}).words, Contains("check"));
}

TEST(Completion, KnowsActionsAndTheirOptions) {
    EXPECT_THAT(answer_to({"history", ""}).words, ElementsAre("show", "diff", "top", "prune"));
    EXPECT_THAT(answer_to({"history", "prune", "--keep"}).words, ElementsAre("--keep", "--keep-last"));
    EXPECT_THAT(answer_to({"report", ""}).words, ElementsAre("show", "merge"));
    EXPECT_EQ(answer_to({"report", "merge", "a.json", ""}).file_from, 0u);
}

TEST(Completion, OfAWordThatCanBeNothingElseIsAnOption) {
    EXPECT_THAT(answer_to({"check", ""}).words, IsSupersetOf({"-i", "--inventory", "--local"}));
    EXPECT_THAT(answer_to({"no-such-command", "--ver"}).words, ElementsAre("--version"));
}

TEST(Completion, OfAValueIsOneOfItsChoices) {
    EXPECT_THAT(answer_to({"check", "--host-key-check", ""}).words,
                ElementsAre("strict", "accept-new", "off"));
    EXPECT_THAT(answer_to({"check", "--host-key-check=a"}).words, ElementsAre("--host-key-check=accept-new"));
    EXPECT_THAT(answer_to({"check", "--format", "j"}).words, ElementsAre("json", "jsonl", "junit"));
    EXPECT_THAT(answer_to({"hosts", "-i"}).words, ElementsAre("-i"));
    EXPECT_THAT(answer_to({"parse", "--expect", ""}).words, ElementsAre("any"));
    EXPECT_THAT(answer_to({"check", "--timeout", ""}).words, IsEmpty());
}

TEST(Completion, SaysWhereAFileBegins) {
    EXPECT_EQ(answer_to({"check", "-i", "fle"}).file_from, 0u);
    EXPECT_EQ(answer_to({"check", "--inventory=fle"}).file_from, 12u);
    EXPECT_EQ(answer_to({"check", "--format", "json=out"}).file_from, 5u);
    EXPECT_EQ(answer_to({"check", "--format=json=out"}).file_from, 14u);
    EXPECT_EQ(answer_to({"check", "-l", "rack1,@fai"}).file_from, 7u);
    EXPECT_EQ(answer_to({"check", "--timeout", ""}).file_from, std::nullopt);
    const Answer lists = answer_to({"check", "--clean-hosts", "s"});
    EXPECT_THAT(lists.words, ElementsAre("slurm="));
    EXPECT_EQ(lists.file_from, 0u);
}

TEST(Completion, LooksHostsUpInTheInventoryOfTheLine) {
    const Answer limit = answer_to({"check", "-i", "fleet.yaml", "-l", "rack1,!o"});
    EXPECT_THAT(limit.words, ElementsAre("rack1,!one", "rack1,!other"));
    EXPECT_EQ(limit.asked.what, Lookup::hosts_and_groups);
    EXPECT_THAT(limit.asked.whence.inventories, ElementsAre("fleet.yaml"));
    EXPECT_THAT(answer_to({"check", "--inventory=f", "-ig", "-l", ""}).asked.whence.inventories,
                ElementsAre("f", "g"));
    EXPECT_THAT(answer_to({"check", "-v", "-l", ""}).asked.whence.inventories, IsEmpty());
    EXPECT_EQ(answer_to({"check", "--config", "none", "-l", ""}).asked.whence.config, "none");
    EXPECT_EQ(answer_to({"check", "-l", ""}).asked.whence.config, std::nullopt);
    EXPECT_EQ(answer_to({"audit", "--host", ""}).asked.what, Lookup::hosts);
    EXPECT_EQ(answer_to({"check", "-u", ""}).asked.what, std::nullopt);
}

TEST(Completion, LooksUpWhatElseHasNames) {
    EXPECT_EQ(answer_to({"clear", "-p", ""}).asked.what, Lookup::playbooks);
    EXPECT_EQ(answer_to({"playbooks", ""}).asked.what, Lookup::playbooks);
    EXPECT_EQ(answer_to({"explain", "driver-hung", ""}).asked.what, Lookup::codes);
    const Answer sweeps = answer_to({"history", "diff", "--history", "h.db", ""});
    EXPECT_EQ(sweeps.asked.what, Lookup::sweeps);
    EXPECT_EQ(sweeps.asked.whence.history, "h.db");
    EXPECT_EQ(answer_to({"help", ""}).asked.what, Lookup::topics);
}

TEST(Completion, LeavesTheRemoteCommandAlone) {
    EXPECT_THAT(answer_to({"run", "-l", "all", "--", "upt"}).words, IsEmpty());
    EXPECT_THAT(answer_to({"run", "-l", "all", "--", "ls", ""}).words, IsEmpty());
}

}  // namespace
}  // namespace cleanslate::controller::testing
