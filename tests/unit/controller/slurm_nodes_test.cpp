#include "controller/slurm_nodes.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "inventory/node_set.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

// Programs of our own where PATH leads.
class SlurmNodesTest : public ::testing::Test {
  protected:
    SlurmNodesTest() : path_(std::getenv("PATH")) { ::setenv("PATH", folder_.file("").c_str(), 1); }
    ~SlurmNodesTest() override { ::setenv("PATH", path_.c_str(), 1); }

    void program(const std::string& name, const std::string& body) {
        std::ofstream(folder_.file(name)) << "#!/bin/sh\nPATH=/usr/bin:/bin\n" << body << "\n";
        ::chmod(folder_.file(name).c_str(), 0755);
    }

    // "SOURCE: NODES", or what went wrong.
    std::string told(const SlurmRequest& request, Milliseconds patience = Milliseconds(60'000)) {
        const auto nodes = ask_slurm(request, environment_, patience);
        if (nodes) return nodes->source + ": " + inventory::fold(nodes->names);
        EXPECT_TRUE(nodes.error().kind == "slurm" || nodes.error().kind == "command" ||
                    nodes.error().kind == "command_absent")
            << nodes.error().kind;
        return nodes.error().message;
    }

    std::string text_of(const std::string& name) { return contents_of(folder_.file(name)); }

    TemporaryFolder folder_;
    Environment environment_;
    std::string path_;
};

SlurmRequest job(const std::string& id) {
    SlurmRequest request;
    request.job = id;
    return request;
}
SlurmRequest partitions(std::vector<std::string> names, std::vector<std::string> states = {}) {
    SlurmRequest request;
    request.partitions = std::move(names);
    request.states = std::move(states);
    return request;
}

TEST_F(SlurmNodesTest, OfThisJobAreInItsEnvironmentWhereThereIsNoSqueue) {
    environment_ = {{"SLURM_JOB_ID", "4242"}, {"SLURM_JOB_NODELIST", "gpu[01-04]"}};
    EXPECT_EQ(told(job("")), "slurm job 4242 (by its environment): gpu[01-04]");
    environment_ = {{"SLURM_JOB_ID", "4242"}, {"SLURM_JOB_NODELIST", "gpu[01-04]"}, {"SLURM_HET_SIZE", "2"}};
    EXPECT_EQ(told(job("")), "this job is a heterogeneous one, of 2 components")
        << "the list is of the first";
    environment_ = {{"SLURM_JOB_ID", "4242"}};
    EXPECT_EQ(told(job("")), "$SLURM_JOB_NODELIST: no node is named");
    environment_ = {};
    EXPECT_EQ(told(job("")), "--slurm-job without an ID is for the inside of a job, and this is none");
}

TEST_F(SlurmNodesTest, OfThisJobAreThoseThatItHasNow) {
    environment_ = {{"SLURM_JOB_ID", "4242"}, {"SLURM_JOB_NODELIST", "gpu[01-04]"}};
    program("squeue", "echo '4242 RUNNING gpu[01-02]'");
    EXPECT_EQ(told(job("")), "slurm job 4242: gpu[01-02]");
    program("squeue", "echo '4242 COMPLETED gpu[01-04]'");
    EXPECT_EQ(told(job("")), "job 4242 has no nodes now: COMPLETED") << "a shell that outlives its job";
    program("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
    EXPECT_EQ(told(job("")), "job 4242: squeue: exit status 1: Unable to contact slurm controller");
    environment_["SLURM_JOB_ID"] = "4242 --me";
    EXPECT_EQ(told(job("")), "$SLURM_JOB_ID is no job's: 4242 --me");
}

TEST_F(SlurmNodesTest, OfAnotherJobComeFromSqueue) {
    program("squeue", "echo \"$@\" >" + folder_.file("words") + "; env >" + folder_.file("env") +
                          "; echo '4242_7 RUNNING gpu[01-04]'");
    ::setenv("SLURM_CLUSTERS", "all", 1);
    ::setenv("SQUEUE_USERS", "nobody", 1);
    ::setenv("LC_ALL", "de_DE.UTF-8", 1);
    environment_ = environment_of_process();
    EXPECT_EQ(told(job("4242_7")), "slurm job 4242_7: gpu[01-04]");
    ::unsetenv("SLURM_CLUSTERS");
    ::unsetenv("SQUEUE_USERS");
    ::unsetenv("LC_ALL");
    EXPECT_EQ(text_of("words"), "--noheader --all --states=all --jobs=4242_7 --format=%i %T %N\n");
    EXPECT_EQ(text_of("env").find("SLURM_CLUSTERS"), std::string::npos)
        << "another cluster's job of that number";
    EXPECT_EQ(text_of("env").find("SQUEUE_USERS"), std::string::npos) << "the user's own filters";
    EXPECT_NE(text_of("env").find("LC_ALL=C\n"), std::string::npos);
}

TEST_F(SlurmNodesTest, OfPartitionsComeFromSinfo) {
    program("sinfo", "echo \"$@\" >" + folder_.file("words") + "; printf 'gpu n[1-2]\\nfast n3\\n'");
    EXPECT_EQ(told(partitions({"gpu", "fast"}, {"idle", "drained"})),
              "slurm partition gpu,fast (idle,drained): n[1-3]");
    EXPECT_EQ(text_of("words"), "--noheader --partition=gpu,fast --states=idle,drained --format=%R %N\n");
    EXPECT_EQ(told(partitions({"gpu", "fast", "slow"})), "sinfo shows no node of a partition slow");
}

TEST_F(SlurmNodesTest, AreNoneWhereTheToolIsMissingOrFails) {
    EXPECT_EQ(told(job("7")), "job 7: squeue: cannot be started: No such file or directory");
    program("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
    EXPECT_EQ(told(job("7")),
              "job 7: squeue: exit status 1: slurm_load_jobs error: Invalid job id specified");
    program("squeue", "echo '7 RUNNING n1'; exit 1");
    EXPECT_EQ(told(job("7")), "job 7: squeue: exit status 1") << "whatever it has printed";
    program("squeue", "echo '7 RUNNING n1'; kill -9 $$");
    EXPECT_EQ(told(job("7")), "job 7: squeue: signal 9 (Killed)");
    program("squeue", ":");
    EXPECT_EQ(told(job("7")), "squeue shows no job 7");
}

TEST_F(SlurmNodesTest, AreNoneWhereTheToolPrintsSomethingElse) {
    program("squeue", "printf '7 RUNNING \\033[2J@/etc/passwd\\n'");
    EXPECT_EQ(told(job("7")), "squeue, of job 7: \"\\x1B[2J@/etc/passwd\" is no list of nodes");
    program("squeue", "echo '7 RUNNING n[1-9'");
    EXPECT_EQ(told(job("7")), "squeue, of job 7: \"n[1-9\" is no list of nodes") << "a cut line";
}

TEST_F(SlurmNodesTest, AreNoneWhereTheToolHangsOrFloods) {
    program("squeue", "echo '7 RUNNING n1'; sleep 1000 & wait");
    EXPECT_EQ(told(job("7"), Milliseconds(700)), "job 7: squeue: not done after 0.70 s");
    program("squeue", "yes '7 RUNNING n1'");
    EXPECT_EQ(told(job("7")), "job 7: squeue: answers with more than 16 MiB");
}

}  // namespace
}  // namespace cleanslate::controller::testing
