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
    EXPECT_EQ(told(nodes_of_job("RUNNING gpu[01-04]\n", "7")), "gpu[01-04]");
    EXPECT_EQ(told(nodes_of_job("COMPLETING n1\n", "7")), "n1");
    EXPECT_EQ(told(nodes_of_job("PENDING \nRUNNING n[1-2]\nRUNNING n[2-3]\nCOMPLETED n9\n", "7")), "n[1-3]")
        << "of an array what its tasks have now";
    EXPECT_EQ(told(nodes_of_job("", "7")), "squeue shows no job 7");
    EXPECT_EQ(told(nodes_of_job("PENDING\n", "7")), "job 7 has no nodes now: PENDING");
    EXPECT_EQ(told(nodes_of_job("PENDING (null)\nCANCELLED n1\n", "7")),
              "job 7 has no nodes now: CANCELLED, PENDING");
    EXPECT_EQ(told(nodes_of_job("RUNNING (null)\n", "7")),
              "squeue, of job 7: there are no nodes: \"(null)\"");
    EXPECT_EQ(told(nodes_of_job("RUNNING n1\nRUNNING\n", "7")), "squeue, of job 7: no node is named");
    EXPECT_EQ(told(nodes_of_job("gpu[01-04]\n", "7")), "job 7 has no nodes now: gpu[01-04]");
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
