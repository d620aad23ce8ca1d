#include "controller/shard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "command_line.hpp"
#include "controller/settings.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

Variables task(const char* id, const char* count, const char* least, const char* most,
               const char* step = "1") {
    return {{"SLURM_ARRAY_TASK_ID", id},
            {"SLURM_ARRAY_TASK_COUNT", count},
            {"SLURM_ARRAY_TASK_MIN", least},
            {"SLURM_ARRAY_TASK_MAX", most},
            {"SLURM_ARRAY_TASK_STEP", step}};
}

std::string shard(std::string_view text, const Variables& variables = {}) {
    const auto found = read_shard(text, variables);
    if (found) return to_string(*found);
    EXPECT_EQ(found.error().kind, "usage");
    EXPECT_FALSE(found.error().remedy.empty());
    return found.error().message;
}

TEST(ShardOption, BelongsToEveryCommandThatSelectsHosts) {
    for (const Words& words : {Words{"check", "-H", "a"}, Words{"clear", "-H", "a"}, Words{"run", "-H", "a"},
                               Words{"hosts", "-H", "a"}, Words{"trust", "-H", "a"},
                               Words{"baseline", "-H", "a", "-o", "b.yaml"}}) {
        Words with = words;
        with.insert(with.end(), {"--shard", "2/3"});
        if (words.front() == "run") with.insert(with.end(), {"--", "true"});
        EXPECT_EQ(to_string(read(with).shard.value_or(Shard{})), "2/3") << words.front();
    }
    EXPECT_EQ(
        to_string(read({"check", "-H", "a", "--shard", "auto"}, task("1", "2", "0", "1")).shard.value()),
        "2/2");
}

TEST(ShardOption, IsRefusedWhereItWouldMeanNothing) {
    EXPECT_THAT(refusal({"check", "--local", "--shard", "1/2"}),
                HasSubstr("does not go together with --shard"));
    EXPECT_THAT(refusal({"check", "-H", "a", "--shard", "1/2", "--expect-hosts", "3"}),
                HasSubstr("give it to cleanslate report merge"));
    EXPECT_THAT(refusal({"check", "-H", "a", "--shard", "3/2"}), HasSubstr("there is no number 3"));
    EXPECT_THAT(refusal({"check", "-H", "a", "--shard", "auto/2"}), HasSubstr("none of SLURM_ARRAY_TASK_ID"));
    EXPECT_FALSE(read({"check", "-H", "a"}).shard) << "an array's task takes all hosts unless it is told";
}

std::vector<std::string> names(int count) {
    std::vector<std::string> all;
    for (int i = 1; i <= count; ++i) all.push_back(fmt::format("gpu{:05}", i));
    return all;
}

TEST(Shard, IsOneOfSoMany) {
    EXPECT_EQ(shard("1/4"), "1/4");
    EXPECT_EQ(shard("4/4"), "4/4");
    EXPECT_EQ(shard("1/1"), "1/1");
    for (const char* text : {"", "/", "1", "1/", "/4", "1/4/5", "a/4", "1/b", "-1/4", "+1/4", " 1/4", "1.0/4",
                             "auto/", "auto/x", "auto4", "Auto", "99999999999999999999/4"})
        EXPECT_THAT(shard(text), HasSubstr("--shard wants K/N")) << text;
    EXPECT_THAT(shard("0/4"), HasSubstr("of 4 shards there is no number 0"));
    EXPECT_THAT(shard("5/4"), HasSubstr("of 4 shards there is no number 5"));
    EXPECT_THAT(shard("1/0"), HasSubstr("from 1 to 10000 shards"));
    EXPECT_THAT(shard("1/10001"), HasSubstr("from 1 to 10000 shards"));
}

TEST(Shard, IsThisTaskOfASlurmArray) {
    EXPECT_EQ(shard("auto", task("0", "4", "0", "3")), "1/4");
    EXPECT_EQ(shard("auto", task("3", "4", "0", "3")), "4/4");
    EXPECT_EQ(shard("auto", task("4", "4", "1", "4")), "4/4");
    EXPECT_EQ(shard("auto", task("20", "3", "10", "30", "10")), "2/3");
    EXPECT_EQ(shard("auto/4", task("2", "1", "2", "2")), "3/4") << "one of them, run again";
}

TEST(Shard, IsNotGuessedFromAnArrayThatDoesNotTellIt) {
    EXPECT_THAT(shard("auto"), HasSubstr("do not tell which task"));
    EXPECT_THAT(shard("auto", task("2", "1", "2", "2")), HasSubstr("an array of one task"));
    EXPECT_THAT(shard("auto", task("5", "3", "0", "5")), HasSubstr("do not stand evenly"));
    EXPECT_THAT(shard("auto", task("1", "2", "0", "3", "2")), HasSubstr("do not stand evenly"));
    EXPECT_THAT(shard("auto", task("9", "4", "0", "3")), HasSubstr("do not stand evenly"));
    EXPECT_THAT(shard("auto", task("1", "2", "1", "0")), HasSubstr("do not stand evenly"));
    EXPECT_THAT(shard("auto", task("0", "2", "0", "1", "0")), HasSubstr("do not stand evenly"));
    EXPECT_THAT(shard("auto", task("", "2", "0", "1")), HasSubstr("do not tell which task"));
    EXPECT_THAT(shard("auto", {{"JOB_COMPLETION_INDEX", "0"}}), HasSubstr("do not tell which task"));
}

TEST(Shard, IsThisIndexOfAKubernetesJob) {
    EXPECT_EQ(shard("auto/8", {{"JOB_COMPLETION_INDEX", "0"}}), "1/8");
    EXPECT_EQ(shard("auto/8", {{"JOB_COMPLETION_INDEX", "7"}}), "8/8");
    EXPECT_THAT(shard("auto/8", {{"JOB_COMPLETION_INDEX", "8"}}),
                HasSubstr("of 8 shards there is no number 9"));
    EXPECT_THAT(shard("auto/8", {{"JOB_COMPLETION_INDEX", "x"}}), HasSubstr("is no index from 0 on"));
    EXPECT_THAT(shard("auto/8", {{"JOB_COMPLETION_INDEX", "18446744073709551615"}}), HasSubstr("no index"));
    EXPECT_THAT(shard("auto/8"), HasSubstr("none of SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX is set"));
    Variables both = task("1", "4", "0", "3");
    both["JOB_COMPLETION_INDEX"] = "1";
    EXPECT_THAT(shard("auto/4", both), HasSubstr("each of"));
}

TEST(ShardOf, IsTheSameInEveryVersion) {
    std::vector<int> shards;
    for (const char* name : {"gpu01", "gpu02", "gpu03", "gpu04", "a.example.org", "", "n\xc3\xb6"})
        shards.push_back(shard_of(name, 1000));
    EXPECT_THAT(shards, ElementsAre(586, 446, 30, 542, 288, 343, 315));
}

TEST(ShardOf, SpreadsHostsEvenly) {
    for (const int count : {2, 3, 4, 16}) {
        std::vector<int> sizes(static_cast<std::size_t>(count));
        for (const std::string& name : names(8'000))
            ++sizes.at(static_cast<std::size_t>(shard_of(name, count) - 1));
        for (const int size : sizes) EXPECT_NEAR(size, 8'000 / count, 8'000 / count * 0.15) << count;
    }
}

class Selected : public ::testing::Test {
  protected:
    std::vector<std::string> of(const std::string& targets, const std::string& part) {
        Options options;
        options.targets = targets;
        if (!part.empty()) options.shard = *read_shard(part, {});
        const auto selection = select_hosts(options);
        std::vector<std::string> hosts;
        if (!selection) return {selection.error().message};
        for (const auto& host : selection->hosts) hosts.push_back(host.name);
        share_ = selection->share;
        notes_ = selection->notes;
        return hosts;
    }
    std::optional<Share> share_;
    std::vector<std::string> notes_;
};

TEST_F(Selected, HostsAreInOneShardEach) {
    std::vector<std::string> all;
    for (const char* part : {"1/3", "2/3", "3/3"})
        for (const std::string& host : of("gpu[001-200]", part)) all.push_back(host);
    EXPECT_THAT(all, ::testing::UnorderedElementsAreArray(of("gpu[001-200]", "")));
    EXPECT_FALSE(share_);
}

TEST_F(Selected, HostsStayInTheirShardWhenOthersComeAndGo) {
    const auto before = of("gpu[001-200]", "2/4");
    const auto after = of("gpu[001-250],x[1-50]", "2/4");
    for (const std::string& host : before) EXPECT_THAT(after, ::testing::Contains(host));
}

TEST_F(Selected, HostsAreAPartOfTheWhole) {
    of("gpu[001-200]", "2/4");
    ASSERT_TRUE(share_);
    EXPECT_EQ(to_string(share_->shard), "2/4");
    EXPECT_EQ(share_->hosts_in_all, 200u);
    EXPECT_EQ(share_->selection, "gpu[001-200]");
    EXPECT_TRUE(notes_.empty());
}

TEST_F(Selected, AShardMayHaveNone) {
    std::vector<std::string> all;
    int empty = 0;
    for (int i = 1; i <= 8; ++i) {
        const auto hosts = of("gpu[1-2]", fmt::format("{}/8", i));
        all.insert(all.end(), hosts.begin(), hosts.end());
        if (!hosts.empty()) continue;
        ++empty;
        EXPECT_THAT(notes_, ElementsAre(fmt::format("shard {}/8 has none of the 2 selected hosts", i)));
        EXPECT_TRUE(share_);
    }
    EXPECT_GE(empty, 6);
    EXPECT_EQ(all.size(), 2u);
}

}  // namespace
}  // namespace cleanslate::controller::testing
