#include "controller/slurm_output.hpp"

#include <gtest/gtest.h>

#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using Nodes = Result<std::vector<std::string>>;

std::string told(const Nodes& nodes) {
    if (nodes) return inventory::fold(*nodes);
    EXPECT_EQ(nodes.error().kind, "slurm");
    return nodes.error().message;
}

TEST(SlurmOutput, ListsNodesAsSlurmPrintsThem) {
    EXPECT_EQ(told(slurm_nodes_in("gpu[01-04],login1\n", "x")), "gpu[01-04],login1");
    EXPECT_EQ(told(slurm_nodes_in("n[098-101]", "x")), "n[098-101]");
    EXPECT_EQ(told(slurm_nodes_in("n[01-100]", "x")).substr(0, 10), "n[01-99,10");
    EXPECT_EQ(slurm_nodes_in("n1,n1", "x")->size(), 1U);
}

TEST(SlurmOutput, RefusesWhatIsNoListOfNodes) {
    for (const auto* none : {"(null)", "N/A", "None assigned", "None", "none assigned\n"})
        EXPECT_EQ(told(slurm_nodes_in(none, "squeue")).substr(0, 29), "squeue: there are no nodes: \"")
            << none;
    EXPECT_EQ(told(slurm_nodes_in(" \n", "squeue")), "squeue: no node is named");
    for (const auto* text : {"@/etc/passwd", "-oProxyCommand=x", "!n1", "n1,!n2", "root@n1", "n1:22", "::1",
                             "n[1", "n[1-999999999]", "n1 n2", "n*", "~n", "n1;n2", "\x1b[2J", "n1,", "/n/",
                             "^f", "slurm_load_jobs error: Invalid job id"})
        EXPECT_NE(told(slurm_nodes_in(text, "squeue")).find("is no list of nodes"), std::string::npos)
            << text;
}

TEST(SlurmOutput, HasTheNodesOfAJobThatHoldsThem) {
    EXPECT_EQ(told(nodes_of_job("7 RUNNING gpu[01-04]\n", "7")), "gpu[01-04]");
    EXPECT_EQ(told(nodes_of_job("7 COMPLETING n1\n", "7")), "n1");
    EXPECT_EQ(told(nodes_of_job(
                  "7_[3-4] PENDING \n7_1 RUNNING n[1-2]\n7_2 RUNNING n[2-3]\n7_0 COMPLETED n9\n", "7")),
              "n[1-3]")
        << "of an array what its tasks have now";
    EXPECT_EQ(told(nodes_of_job("", "7")), "squeue shows no job 7");
    EXPECT_EQ(told(nodes_of_job("7 PENDING\n", "7")), "job 7 has no nodes now: PENDING");
    EXPECT_EQ(told(nodes_of_job("7 PENDING (null)\n7 CANCELLED n1\n", "7")),
              "job 7 has no nodes now: CANCELLED, PENDING");
    EXPECT_EQ(told(nodes_of_job("7 RUNNING (null)\n", "7")),
              "squeue, of job 7: there are no nodes: \"(null)\"");
    EXPECT_EQ(told(nodes_of_job("7 RUNNING n1\n7 RUNNING\n", "7")), "squeue, of job 7: no node is named");
}

TEST(SlurmOutput, HasTheNodesOfOnePartOfAJob) {
    const std::string parts = "7+0 RUNNING n1\n7+1 RUNNING n2\n";
    EXPECT_EQ(told(nodes_of_job(parts, "7")), "n[1-2]");
    EXPECT_EQ(told(nodes_of_job(parts, "7+1")), "n2");
    EXPECT_EQ(told(nodes_of_job(parts, "7+2")), "squeue shows no job 7+2");
    EXPECT_EQ(told(nodes_of_job("7_1 RUNNING n1\n7_10 RUNNING n10\n", "7_1")), "n1");
    EXPECT_EQ(told(nodes_of_job("7_1 RUNNING n1\n", "9")), "n1") << "a task by its own number";
}

TEST(SlurmOutput, RefusesLinesThatItDoesNotKnow) {
    for (const auto* state : {"RUNNIN", "RUNNING*", "running", "gpu[01-04]", "\x1b[2J"})
        EXPECT_NE(
            told(nodes_of_job("7 RUNNING n1\n7 " + std::string(state) + " n2\n", "7")).find("is not known"),
            std::string::npos)
            << state;
    EXPECT_EQ(told(nodes_of_job("CLUSTER: a\n7 RUNNING n1\nCLUSTER: b\n7 RUNNING n2\n", "7")),
              "squeue: \"CLUSTER:\" is no job")
        << "another cluster's job of that number";
    EXPECT_EQ(told(nodes_of_job("gpu[01-04]\n", "7")), "squeue: \"gpu[01-04]\" is no job");
}

TEST(SlurmOutput, HasTheNodesOfEveryPartitionThatWasAskedFor) {
    EXPECT_EQ(told(nodes_of_partitions("gpu n[1-2]\ngpu n4\nfast n[2-3]\n", {"gpu", "fast"}, {})), "n[1-4]");
    EXPECT_EQ(told(nodes_of_partitions("gpu n1\n", {"gpu", "gup"}, {})),
              "sinfo shows no node of a partition gup");
    EXPECT_EQ(told(nodes_of_partitions("gpu \n", {"gpu"}, {"idle", "drained"})),
              "sinfo shows no node of a partition gpu that is idle or drained");
    EXPECT_EQ(told(nodes_of_partitions("", {"gpu"}, {})), "sinfo shows no node of a partition gpu");
    EXPECT_EQ(told(nodes_of_partitions("gpu n1\nall n[1-900]\n", {"gpu"}, {})),
              "sinfo: \"all\" was not asked for");
    EXPECT_EQ(told(nodes_of_partitions("gpu n/a\n", {"gpu"}, {})),
              "sinfo, of partition gpu: there are no nodes: \"n/a\"");
}

}  // namespace
}  // namespace cleanslate::controller
