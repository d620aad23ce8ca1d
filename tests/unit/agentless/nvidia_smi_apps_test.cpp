#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "agentless/nvidia_smi.hpp"

namespace cleanslate::agentless {
namespace {

std::string corpus(const std::string& name) {
    std::ifstream file(std::string(CLEANSLATE_SOURCE_DIR) + "/tests/corpus/" + name);
    EXPECT_TRUE(file) << name;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

constexpr const char* uuid = "GPU-00000000-1111-2222-3333-444444444444";

TEST(Apps, OfABusyH200AreReadWithAndWithoutAHeader) {
    for (const auto* name : {"h200/apps_busy_header.txt", "h200/apps_busy_nounits.txt"}) {
        const auto read = read_app_table(corpus(name));
        EXPECT_TRUE(read.problems.empty()) << name;
        ASSERT_EQ(read.apps.size(), 4u) << name;
        EXPECT_EQ(read.apps[0].pid, 843);
        EXPECT_EQ(read.apps[0].uuid, uuid);
        EXPECT_EQ(read.apps[0].used, Mebibytes{41570});
        EXPECT_EQ(read.apps[3].pid, 1050);
        EXPECT_EQ(read.apps[3].name, "python3");
    }
}

TEST(Apps, OfAnIdleH200AreNone) {
    const auto read = read_app_table(corpus("h200/apps_idle_header.txt"));
    EXPECT_TRUE(read.apps.empty());
    EXPECT_TRUE(read.problems.empty());
    EXPECT_TRUE(read_app_table("").apps.empty());
}

TEST(Apps, AreReadInTheOrderThatTheSurveyAsksFor) {
    const auto read = read_app_table(std::string("993, ") + uuid + ", 10850 MiB, [Not Found]\n");
    ASSERT_EQ(read.apps.size(), 1u);
    EXPECT_EQ(read.apps[0].pid, 993);
    EXPECT_EQ(read.apps[0].used, Mebibytes{10850});
    EXPECT_EQ(read.apps[0].name, "[Not Found]");
}

TEST(Apps, MayHaveCommasInTheirNames) {
    const auto read = read_app_table(std::string("70, ") + uuid + ", 5 MiB, /usr/bin/a, b, c\r\n");
    ASSERT_EQ(read.apps.size(), 1u);
    EXPECT_EQ(read.apps[0].name, "/usr/bin/a, b, c");
}

TEST(Apps, MayLackAPidOrTheirMemory) {
    const auto read = read_app_table(std::string("[N/A], ") + uuid + ", [N/A], [Insufficient Permissions]\n" +
                                     "[Not Supported], " + uuid + ", [Not Supported], [Not Supported]\n");
    ASSERT_EQ(read.apps.size(), 2u);
    EXPECT_EQ(read.apps[0].pid, std::nullopt);
    EXPECT_EQ(read.apps[0].used, std::nullopt);
    EXPECT_TRUE(read.problems.empty());
}

TEST(Apps, NeverTurnALineThatIsNoRowIntoAPid) {
    for (const auto* text :
         {"No devices were found\n", "70\n", "70, GPU-00000000-1111-2222-3333-444444444444\n",
          "0, GPU-00000000-1111-2222-3333-444444444444, 5 MiB, x\n",
          "-70, GPU-00000000-1111-2222-3333-444444444444, 5 MiB, x\n",
          "4194305, GPU-00000000-1111-2222-3333-444444444444, 5 MiB, x\n",
          "7 0, GPU-00000000-1111-2222-3333-444444444444, 5 MiB, x\n",
          "99999999999999999999, GPU-00000000-1111-2222-3333-444444444444, 5 MiB, x\n",
          "70, not-a-uuid, 5 MiB, x\n", "70, GPU-00000000-1111-2222-3333-444444444444, 5 Mi"}) {
        const auto read = read_app_table(text);
        EXPECT_TRUE(read.apps.empty()) << text;
        EXPECT_EQ(read.problems.size(), 1u) << text;
    }
}

// A file may be called anything: a row whose last cells read like column names is still a row, and so is what
// comes after it.
TEST(Apps, AreNeverTakenForAHeaderWhateverTheirProcessesAreCalled) {
    const std::string first = std::string("70, ") + uuid + ", 76107 MiB, ";
    const std::string second = std::string("71, ") + uuid + ", 518 MiB, python3\n";
    for (const auto* name : {"/tmp/x,pid", "/tmp/x, pid, uuid, used_memory", "pid", "pid,pid,pid,pid", "PID",
                             "/tmp/x, pid [MiB]", "a,gpu_uuid,pid,used_gpu_memory [MiB],process_name"}) {
        const auto read = read_app_table(first + name + "\n" + second);
        ASSERT_EQ(read.apps.size(), 2u) << name;
        EXPECT_EQ(read.apps[0].pid, 70) << name;
        EXPECT_EQ(read.apps[0].used, Mebibytes{76107}) << name;
        EXPECT_EQ(read.apps[1].pid, 71) << name;
        EXPECT_TRUE(read.problems.empty()) << name;
    }
}

TEST(Apps, WithAHeaderThatWasCutAreNotAnEmptyList) {
    for (const auto* text : {"pid", "pid, gpu_uuid, used_gpu_memory [MiB], process_name"}) {
        EXPECT_EQ(read_app_table(text).problems.size(), 1u) << text;
        EXPECT_TRUE(read_app_table(std::string(text) + "\n").problems.empty()) << text;
    }
}

TEST(Apps, AreBounded) {
    std::string text;
    while (text.size() < 10'000'000) text += "noise, that is no row\n";
    EXPECT_LE(read_app_table(text).problems.size(), 64u);
    text.clear();
    for (int pid = 1; pid <= 100'000; ++pid)
        text += std::to_string(pid) + ", GPU-00000000-1111-2222-3333-444444444444, 5 MiB, x\n";
    const auto read = read_app_table(text);
    EXPECT_LE(read.apps.size(), 65'536u);
    EXPECT_FALSE(read.problems.empty());
}

// A process names itself, with line breaks too. What the name hides must not be a row, nor a message.
TEST(Apps, MayHaveNamesThatGoOnInTheLinesBelow) {
    const std::string row = std::string("70, ") + uuid + ", 5 MiB, ";
    const std::string other = std::string("71, ") + uuid + ", 6 MiB, python3\n";
    const auto read = read_app_table(row + "/opt/a\nx\xFF\n\nand more\n" + other);
    ASSERT_EQ(read.apps.size(), 2u);
    EXPECT_EQ(read.apps[0].name, "/opt/a");
    EXPECT_EQ(read.apps[1].pid, 71);
    EXPECT_TRUE(read.problems.empty());
    ASSERT_EQ(read.name_rests.size(), 2u);
    EXPECT_EQ(read.name_rests[0].pid, 70);
    EXPECT_EQ(read.name_rests[0].text, "x\xFF");
}

TEST(Apps, WhoseNameGoesOnHideNoRowNoPartOfOneAndNoMessage) {
    const std::string row = std::string("70, ") + uuid + ", 5 MiB, /opt/a\n";
    const auto forged = read_app_table(row + "72, " + uuid + ", 7 MiB, x\n");
    ASSERT_EQ(forged.apps.size(), 2u) << "a forged row stays a row";
    EXPECT_TRUE(forged.name_rests.empty());
    for (const auto* line : {"72", "72, GPU-0000", "0, GPU-00000000-1111-2222-3333-444444444444, 5 MiB, x",
                             "72, x", "x, 5 MiB", "[N/A], x", "GPU is lost",
                             "Unable to determine the device handle for GPU 0000:12:00.0: GPU is lost",
                             "Failed to initialize NVML: Unknown Error",
                             "NVIDIA-SMI has failed because it couldn't communicate "
                             "with the NVIDIA driver.",
                             "No devices were found"}) {
        const auto read = read_app_table(row + line + "\n");
        EXPECT_EQ(read.problems.size(), 1u) << line;
        EXPECT_TRUE(read.name_rests.empty()) << line;
        const auto below = read_app_table(row + line + "\nx\xFF\n");
        EXPECT_EQ(below.problems.size(), 2u) << "no name goes on below a line that is none: " << line;
    }
}

TEST(Apps, HaveNoNameToGoOnWithWhereItIsNotTheLastColumnOrThereIsNoRow) {
    EXPECT_EQ(read_app_table("x\xFF\n").problems.size(), 1u);
    const auto memory_last =
        read_app_table(std::string("pid, name, gpu_uuid, used_gpu_memory\n70, a, ") + uuid + ", 5 MiB\nx\n");
    EXPECT_EQ(memory_last.problems.size(), 1u);
    EXPECT_TRUE(memory_last.name_rests.empty());
    std::string many = std::string("70, ") + uuid + ", 5 MiB, /opt/a\n";
    for (int i = 0; i < 100'000; ++i) many += "noise\n";
    EXPECT_LE(read_app_table(many).name_rests.size(), 64u);
    EXPECT_FALSE(read_app_table(many).problems.empty());
}

}  // namespace
}  // namespace cleanslate::agentless
