#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SlurmOptions, NameAJobOrThisOne) {
    EXPECT_EQ(read({"check", "--slurm-job", "4242"}).slurm.job, "4242");
    EXPECT_EQ(read({"check", "--slurm-job=4242_7"}).slurm.job, "4242_7");
    EXPECT_EQ(read({"check", "--slurm-job", "4242+1"}).slurm.job, "4242+1");
    EXPECT_EQ(read({"check", "--slurm-job"}).slurm.job, "");
    EXPECT_EQ(read({"check", "--slurm-job", "-l", "rack1"}).slurm.job, "");
    EXPECT_FALSE(read({"check", "--local"}).slurm.asked());
    for (const auto* id : {"gpu01", "4242,4243", "-1", "4_", "12345678901", "4242;id"})
        EXPECT_THAT(refusal({"check", std::string("--slurm-job=") + id}), HasSubstr("is no job's ID")) << id;
}

TEST(SlurmOptions, NamePartitionsAndStates) {
    const auto options = read(
        {"check", "--slurm-partition", "gpu,fast", "--slurm-partition", "debug", "--state", "idle, drained"});
    EXPECT_THAT(options.slurm.partitions, ElementsAre("gpu", "fast", "debug"));
    EXPECT_THAT(options.slurm.states, ElementsAre("idle", "drained"));
    EXPECT_TRUE(options.slurm.asked());
    EXPECT_THAT(refusal({"check", "--slurm-partition", "gpu,"}), HasSubstr("'' is no partition"));
    EXPECT_THAT(refusal({"check", "--slurm-partition=-a"}), HasSubstr("'-a' is no partition"));
    EXPECT_THAT(refusal({"check", "--slurm-partition", "gpu", "--state", "idle&up"}),
                HasSubstr("'idle&up' is no state"));
}

TEST(SlurmOptions, SayWhichHostsAndTakeTheInventoryWhereThereIsOne) {
    const auto outright = read({"clear", "--yes", "--slurm-job", "7"});
    EXPECT_EQ(outright.limit, std::nullopt);
    const auto looked_up =
        read({"clear", "--yes", "--slurm-job", "7", "-l", "rack1"}, {{"CLEANSLATE_INVENTORY", "fleet.yaml"}});
    EXPECT_THAT(looked_up.inventories, ElementsAre("fleet.yaml"));
    EXPECT_EQ(looked_up.limit, "rack1");
    EXPECT_EQ(read({"run", "--slurm-job", "7", "--", "uptime"}).remote_command, "uptime");
    EXPECT_THAT(refusal({"run", "--slurm-job", "7"}), HasSubstr("run wants a command"));
}

TEST(SlurmOptions, DoNotGoTogetherWithOtherHosts) {
    EXPECT_THAT(refusal({"check", "--slurm-job", "7", "-H", "n1"}), HasSubstr("Slurm names the hosts"));
    EXPECT_THAT(refusal({"check", "--slurm-job", "7", "--local"}), HasSubstr("Slurm names the hosts"));
    EXPECT_THAT(refusal({"check", "--slurm-job", "7", "--slurm-partition", "gpu"}),
                HasSubstr("do not go together"));
    EXPECT_THAT(refusal({"check", "--local", "--state", "idle"}),
                HasSubstr("--state goes together with --slurm-partition"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
