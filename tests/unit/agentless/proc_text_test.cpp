#include "agentless/proc_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace cleanslate::agentless {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

std::string stat_of(const std::string& comm) {
    return "843 (" + comm +
           ") S 410 843 842 0 -1 4194560 89987 0 320 0 526 81 0 0 20 0 18 0 2696 61246988288 157165 "
           "18446744073709551615";
}

TEST(ProcStat, GivesTheFieldsOfARealHolder) {
    std::ifstream in(CLEANSLATE_SOURCE_DIR "/tests/corpus/h200/proc_stat_cgroup_cmdline.txt");
    std::string line;
    ASSERT_TRUE(std::getline(in, line));
    Process process;
    ASSERT_TRUE(read_stat(line, process));
    EXPECT_EQ(process.key, (ProcessKey{843, 2696}));
    EXPECT_EQ(process.parent, 410);
    EXPECT_EQ(process.session, 843);
    EXPECT_EQ(process.state, 'S');
    EXPECT_EQ(process.comm, "python3");
    EXPECT_FALSE(process.kernel_thread);
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_THAT(best_cgroup(line), Optional(std::string("/user.slice/session.scope")));
}

TEST(ProcStat, IsNotMisledByTheName) {
    for (const auto* comm :
         {"a b", ") S 1 1", "\n1 (init) S 0", "(((", ")))", "", "x) R 1 2 3 4 5 6 7 8 9"}) {
        Process process;
        ASSERT_TRUE(read_stat(stat_of(comm), process)) << comm;
        EXPECT_EQ(process.comm, comm);
        EXPECT_EQ(process.parent, 410) << comm;
        EXPECT_EQ(process.key.start, 2696u) << comm;
    }
}

TEST(ProcStat, TakesNoProcessForAZombieWhileItsOtherThreadsLive) {
    auto text = stat_of("x");
    text.replace(text.find(") S ") + 2, 1, "Z");
    Process process;
    ASSERT_TRUE(read_stat(text, process));
    EXPECT_EQ(process.state, '?');
    text.replace(text.find(" 18 0 2696"), 3, " 1");
    ASSERT_TRUE(read_stat(text, process));
    EXPECT_EQ(process.state, 'Z');
}

TEST(ProcStat, KnowsAKernelThread) {
    Process process;
    ASSERT_TRUE(read_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 27 0 0", process));
    EXPECT_TRUE(process.kernel_thread);
}

TEST(ProcStat, RefusesWhatIsCutOrNoNumber) {
    const auto whole = stat_of("x");
    Process process;
    const auto needed = whole.find(" 61246988288");
    // The start time is the last field needed: any of its beginnings is a number as well.
    for (std::size_t size = 0; size <= whole.find("2696"); ++size)
        EXPECT_FALSE(read_stat(whole.substr(0, size), process)) << size;
    EXPECT_TRUE(read_stat(whole.substr(0, needed), process));
    for (const auto* text :
         {"x (a) S 1", "0 (a) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0",
          "7 (a) SS 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0",
          "7 (a) S -1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0", "7 )a( S 1", "7 (", "7 ()"})
        EXPECT_FALSE(read_stat(text, process)) << text;
}

TEST(Cgroup, PrefersTheLineThatNamesTheProcess) {
    EXPECT_THAT(best_cgroup("0::/system.slice/ollama.service\n"),
                Optional(std::string("/system.slice/ollama.service")));
    EXPECT_THAT(best_cgroup("5:memory:/docker/4f2a\n1:name=systemd:/\n0::/\n"),
                Optional(std::string("/docker/4f2a")));
    EXPECT_THAT(best_cgroup("0::/\n"), Optional(std::string("/")));
    EXPECT_THAT(best_cgroup("0::/a:b:c\n"), Optional(std::string("/a:b:c")));
    EXPECT_EQ(best_cgroup(""), std::nullopt);
    EXPECT_EQ(best_cgroup("no line\n1:2\n"), std::nullopt);
}

// Of v1, and of v1 beside v2, where systemd's line only knows the daemon that started it.
TEST(Cgroup, TellsOfAJobAPodOrAContainerOnWhicheverLineItStands) {
    const std::string id(64, 'a');
    const std::string job = "/slurm/uid_1000/job_42/step_0";
    const std::string pod = "/kubepods/burstable/pod12345678-1234-1234-1234-123456789abc/" + id;
    for (const auto& path : {job, pod, "/docker/" + id, "/system.slice/docker-" + id + ".scope"})
        for (const auto* other :
             {"/system.slice/slurmd.service", "/system.slice/containerd.service",
              "/user.slice/user-1000.slice/session-5.scope", "/init.scope",
              "/user.slice/user-1000.slice/user@1000.service/app.slice/a-long-name-of-something.service"}) {
            const std::string its = ":" + path + "\n", others = std::string(":") + other + "\n";
            EXPECT_THAT(best_cgroup("9:freezer" + its + "8:memory" + its + "1:name=systemd" + others),
                        Optional(path))
                << other;
            EXPECT_THAT(best_cgroup("0:" + others + "2:devices" + its + "1:name=systemd" + others),
                        Optional(path))
                << other;
            EXPECT_THAT(best_cgroup("12:pids" + others + "1:name=systemd" + its + "0:" + others),
                        Optional(path))
                << other;
        }
    EXPECT_THAT(best_cgroup("3:freezer:/docker/" + id + "\n2:devices:" + job + "\n0::/a.service\n"),
                Optional(job))
        << "a container in a job is the job's";
    EXPECT_THAT(best_cgroup("3:cpu:/something/quite/long\n1:name=systemd:/a.service\n0::/\n"),
                Optional(std::string("/a.service")));
    // Below a user's own systemd anybody may name a cgroup like a job.
    const std::string own = "/user.slice/user-1000.slice/user@1000.service";
    EXPECT_THAT(best_cgroup("3:cpu:" + own + job + "\n1:name=systemd:/a.service\n"),
                Optional(std::string("/a.service")));
}

TEST(Arguments, AreSplitAtNulAndLoseThePaddingAtTheEnd) {
    using namespace std::string_view_literals;
    EXPECT_THAT(split_arguments("a\0b c\0"sv), ElementsAre("a", "b c"));
    EXPECT_THAT(split_arguments("a\0\0b\0"sv), ElementsAre("a", "", "b"));
    EXPECT_THAT(split_arguments("nginx: master process\0\0\0\0"sv), ElementsAre("nginx: master process"));
    EXPECT_THAT(split_arguments("no end"sv), ElementsAre("no end"));
    EXPECT_THAT(split_arguments("\0\0"sv), IsEmpty());
    EXPECT_THAT(split_arguments(""sv), IsEmpty());
}

TEST(DeviceFilesList, IsSortedAndWithoutRepeats) {
    const auto files = read_device_files("11,c,0,3,0,c");
    ASSERT_TRUE(files);
    EXPECT_THAT(files->minors, ElementsAre(0, 3, 11));
    EXPECT_TRUE(files->control);
    EXPECT_FALSE(read_device_files("0")->control);
    const auto with_caps = read_device_files("cap12,1,cap3,c,cap12");
    ASSERT_TRUE(with_caps);
    EXPECT_THAT(with_caps->caps, ElementsAre(3, 12));
    EXPECT_THAT(with_caps->minors, ElementsAre(1));
    EXPECT_TRUE(read_device_files("cap3")->control) << "such a file is a device file too";
    for (const auto* text : {"", ",", "0,", "x", "-1", "c c", "99999999999999999999", "cap", "cap-1", "capx",
                             "cap 3", "cap1000001", "cap3cap4"})
        EXPECT_FALSE(read_device_files(text)) << text;
}

TEST(DriverVersion, IsFoundInBothKindsOfModule) {
    EXPECT_EQ(driver_version_in(
                  "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build"),
              "580.159.04");
    EXPECT_EQ(driver_version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed Oct 27"),
              "470.82.01");
    EXPECT_EQ(driver_version_in("GCC version: gcc 12.3.0"), "");
    EXPECT_EQ(driver_version_in(""), "");
}

}  // namespace
}  // namespace cleanslate::agentless
