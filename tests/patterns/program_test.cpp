// Where the program takes hosts from: arguments, files, standard input, Slurm.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "oracles.hpp"

namespace cleanslate::inventory::testing {
namespace {

class HostSources : public ::testing::Test {
  protected:
    HostSources() {
        std::filesystem::create_directory(folder_);
        env_ = {{"PATH", folder_}, {"HOME", folder_}, {"XDG_STATE_HOME", folder_}};
    }
    ~HostSources() override { std::filesystem::remove_all(folder_); }

    Ended cleanslate(Names words, std::string input = {}) {
        words.insert(words.begin(), std::string(CLEANSLATE_BINARY_DIR) + "/cleanslate");
        return call(std::move(words), std::move(input), env_);
    }
    // What `hosts` prints, folded into one line, or the first line of why not.
    std::string hosts(Names words, std::string input = {}) {
        words.insert(words.begin(), {"hosts", "--folded"});
        const Ended ended = cleanslate(std::move(words), std::move(input));
        EXPECT_EQ(ended.status, ended.out.empty() ? 2 : 0) << ended.err;
        const std::string& said = ended.out.empty() ? ended.err : ended.out;
        return said.substr(0, said.find('\n'));
    }
    std::string file(const std::string& name, const std::string& text) {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }
    void program(const std::string& name, const std::string& body) {
        ::chmod(file(name, "#!/bin/sh\n" + body + "\n").c_str(), 0755);
    }

    std::string folder_ =
        std::filesystem::temp_directory_path() / ("cleanslate_hosts_" + std::to_string(getpid()));
    std::map<std::string, std::string> env_;
    const std::string racks_ = beside_sources("racks.yaml");
};

TEST_F(HostSources, AreFilesAndStandardInput) {
    EXPECT_EQ(hosts({"-H", "-"}, "# racks\r\nn[1-2] n4\r\n"), "n[1-2,4]");
    EXPECT_EQ(hosts({"-H", "m1", "-H", "@" + file("list", "n1 slots=8\nn2 slots=8\n")}), "m1,n[1-2]");
    EXPECT_EQ(hosts({"-i", racks_, "-l", "@-"}, "rack1[0]\nlogin1,\n login2\n"), "gpu01,login[1-2]");
    EXPECT_EQ(hosts({"-i", racks_, "-l", "rack1,!@-"}, "gpu02\n"), "gpu[01,03-04]");
}

TEST_F(HostSources, ThatNameNobodyAreErrors) {
    EXPECT_EQ(hosts({"-H", "-"}), "cleanslate: standard input: names no host");
    EXPECT_EQ(hosts({"-i", racks_, "-l", "@-"}), "cleanslate: standard input: names no host");
    EXPECT_EQ(hosts({"-i", "-", "-l", "@-"}, "all: {hosts: {n1: }}\n"),
              "cleanslate: standard input: names no host")
        << "it was the inventory";
    EXPECT_EQ(hosts({"-H", "@" + file("none", "# nobody\n")}),
              "cleanslate: " + folder_ + "/none: names no host");
    EXPECT_EQ(cleanslate({"check", "-H", "-"}).status, 2);
}

TEST_F(HostSources, AreTheNodesOfAJob) {
    program("squeue", "case $* in *--jobs=7*) echo '7 RUNNING gpu[01-02]';; *) exit 1;; esac");
    EXPECT_EQ(hosts({"--slurm-job", "7"}), "gpu[01-02]");
    EXPECT_EQ(hosts({"--slurm-job", "7", "-i", racks_}), "gpu[01-02]");
    EXPECT_EQ(hosts({"--slurm-job", "7", "-i", racks_, "-l", "h200"}), "gpu01");
    EXPECT_EQ(hosts({"--slurm-job", "7", "-i", racks_, "-l", "login"}),
              "cleanslate: login leaves no host of slurm job 7: gpu[01-02]");
    EXPECT_EQ(hosts({"--slurm-job", "7", "-l", "gpu01"}), "gpu01");
    env_["SLURM_JOB_ID"] = "9";
    env_["SLURM_JOB_NODELIST"] = "gpu[01-99]";
    program("squeue", "echo '9 RUNNING gpu[03-05]'");
    EXPECT_EQ(hosts({"--slurm-job"}), "gpu[03-05]");
    env_["CLEANSLATE_INVENTORY"] = racks_;
    program("squeue", "echo '9 RUNNING gpu[07-10],rack1'");
    EXPECT_EQ(hosts({"--slurm-job"}), "cleanslate: slurm job 9: not in the inventory: gpu[09-10],rack1");
}

TEST_F(HostSources, AreTheNodesOfPartitions) {
    program("sinfo",
            "case \"$*\" in *--states=idle*) echo 'gpu gpu01';; *) printf 'gpu gpu[01-02]\\nlogin "
            "login1\\n';; esac");
    EXPECT_EQ(hosts({"--slurm-partition", "gpu,login"}), "gpu[01-02],login1");
    EXPECT_EQ(hosts({"--slurm-partition", "gpu", "--state", "idle"}), "gpu01");
    EXPECT_EQ(hosts({"--slurm-partition", "gpu,login", "--state", "idle"}),
              "cleanslate: sinfo shows no node of a partition login that is idle");
    EXPECT_EQ(hosts({"--slurm-partition", "gpu"}), "cleanslate: sinfo: \"login\" was not asked for");
}

TEST_F(HostSources, AreToldInTheReport) {
    program("squeue", "echo '7 RUNNING localhost'");
    const Ended ended = cleanslate({"check", "--slurm-job", "7", "-F", "none", "--known-hosts", "/dev/null",
                                    "--connect-timeout", "2s", "--no-history", "--format", "json"});
    EXPECT_NE(ended.out.find("\"slurm job 7: localhost\""), std::string::npos) << ended.out << ended.err;
}

TEST_F(HostSources, AreNoneWhereSlurmSaysNothing) {
    EXPECT_EQ(hosts({"--slurm-job", "7"}),
              "cleanslate: job 7: squeue: cannot be started: No such file or directory");
    program("squeue", ":");
    EXPECT_EQ(hosts({"--slurm-job", "7"}), "cleanslate: squeue shows no job 7");
    const Ended ended = cleanslate({"clear", "--slurm-job", "7", "--yes"});
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.out, "");
}

}  // namespace
}  // namespace cleanslate::inventory::testing
