#include "agentless/survey_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/agentless/survey_text.hpp"

namespace cleanslate::agentless {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(Survey, OfAnIdleHostIsReadWhole) {
    const auto evidence =
        read("meta boot 1-2\nmeta ticks 100\nmeta uptime 5000.25\nnodes\nnode 0\ndrivers\ntool gpu 0\n" +
             core_row + "tool app 0\n" + proc(1, 0) + proc(10, 1, "sshd") + proc(20, 10, "sh") +
             "mount 1 mnt:[1]\nmount 20 mnt:[1]\nmount 10 mnt:[2]\nexe 20 /bin/dash%20(deleted)\nargv 20 "
             "sh%00-s\n" +
             "cgroup 20 0::/a\nexefile 20 0 -rwxr-xr-x\nblind 0\ndriver 0000:00:06.0\ninfo "
             "Device%20Minor:%20%09%203\n"
             "info GPU%20UUID:%20GPU-1\ndriver version\ninfo NVRM%20version:%20x%20580.1.2\nuser 0 root\n" +
             all_done);
    EXPECT_TRUE(evidence.complete);
    EXPECT_TRUE(evidence.root);
    EXPECT_TRUE(evidence.holders_visible);
    EXPECT_EQ(evidence.boot_id, "1-2");
    ASSERT_EQ(evidence.gpus.size(), 1u);
    EXPECT_EQ(evidence.gpus[0].used, Mebibytes{14});
    EXPECT_EQ(evidence.gpu_query.exit_status, 0);
    EXPECT_EQ(evidence.device_minors, std::vector{0});
    EXPECT_EQ(evidence.driver_version, "580.1.2");
    ASSERT_TRUE(evidence.driver_gpus && evidence.driver_gpus->size() == 1);
    EXPECT_EQ(evidence.driver_gpus->front().minor, 3);
    EXPECT_EQ(evidence.driver_gpus->front().uuid, "GPU-1");
    EXPECT_THAT(evidence.session_ancestors, ElementsAre(20, 10, 1));
    const auto* shell = evidence.find(20);
    ASSERT_NE(shell, nullptr);
    EXPECT_EQ(shell->exe, "/bin/dash");
    EXPECT_TRUE(shell->exe_deleted);
    EXPECT_FALSE(shell->exe_writable_by_others);
    EXPECT_EQ(shell->exe_owner, 0u);
    EXPECT_TRUE(shell->host_mount_ns);
    EXPECT_FALSE(evidence.find(10)->host_mount_ns);
    EXPECT_EQ(shell->user, "root");
    EXPECT_EQ(shell->age_s, 4980u);
    EXPECT_THAT(shell->argv, Optional(ElementsAre("sh", "-s")));
    EXPECT_EQ(shell->cgroup, "/a");
}

TEST(Survey, LeavesAbsentWhatWasNotSaid) {
    const auto evidence = read(proc(20, 0, "sh", "-") + all_done);
    EXPECT_TRUE(evidence.complete);
    EXPECT_FALSE(evidence.driver_gpus.has_value());
    EXPECT_FALSE(evidence.device_minors.has_value());
    EXPECT_FALSE(evidence.gpu_query.exit_status.has_value());
    EXPECT_FALSE(evidence.clock_ticks.has_value());
    const auto& shell = evidence.processes.at(0);
    EXPECT_FALSE(shell.uid || shell.exe || shell.argv || shell.cgroup || shell.age_s || shell.exe_owner);
    EXPECT_TRUE(shell.exe_writable_by_others);
    EXPECT_FALSE(shell.host_mount_ns);
}

TEST(Survey, WithoutEndIsNoEvidence) {
    const auto whole = survey(core_row + "tool gpu 0\n" + proc(20, 0) + all_done);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto evidence = read_survey(whole.substr(0, size), "n");
        if (!evidence) continue;
        EXPECT_FALSE(evidence->complete) << size;
        EXPECT_THAT(evidence->gpus, IsEmpty());
        EXPECT_NE(evidence->incomplete_reason, "");
    }
    EXPECT_TRUE(read_survey(whole, "n")->complete);
}

TEST(Survey, OfAnotherNonceIsNone) {
    const auto other = read_survey(survey(all_done), "m");
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(other.error().kind, "protocol");
}

TEST(Survey, IsRefusedWholeWhereOneRecordIsNotAsItShouldBe) {
    const auto known = proc(20, 0);
    for (const auto* record : {"novel 1",
                               "gpu",
                               "gpu a b",
                               "tool gpu",
                               "tool gpu x",
                               "tool fan 0",
                               "tool gpu -1",
                               "open 20",
                               "open 20 x",
                               "open 21 0",
                               "open 0 0",
                               "open -1 0",
                               "mapped 20 -",
                               "argv 21 x",
                               "argv 20 x y",
                               "exe 21 /x",
                               "unreadable 21",
                               "blind x",
                               "cgroup 21 0::/",
                               "exefile 20 x -rwxr-xr-x",
                               "exefile 20 0 rwx",
                               "info x",
                               "driver x",
                               "node 0",
                               "meta novel 1",
                               "meta uid x",
                               "meta ticks 0",
                               "meta shell 0",
                               "done novel",
                               "reading 5 maps",
                               "user x y",
                               "stuck x",
                               "proc 21 0 21%20(x)%20S",
                               "proc 21 x 21",
                               "tool gpu skipped",
                               "tool app skipped",
                               "tool opt",
                               "tool opt x",
                               "tool help 0",
                               "took",
                               "took gpu",
                               "took gpu x",
                               "took gpu -1",
                               "took fan 1",
                               "took gpu 10000001",
                               "fields",
                               "fields a,,b",
                               "fields a, b",
                               "fields A",
                               "fields a%2cb",
                               "fields ,",
                               "unknown-field",
                               "unknown-field -",
                               "unknown-field A",
                               "unknown-field a%0ab",
                               "opt",
                               "opt a b",
                               "list",
                               "pci 1",
                               "pcigpu 0000:0b:00.0 nvidia",
                               "cap 0 9 0",
                               "cap 0 9 0 x",
                               "cap - 9 0 1",
                               "cap 0 - 0 1",
                               "cap 0 9 0 -",
                               "cap 0 9 x 1",
                               "cap 0 9 0 1000001",
                               "wedged 20",
                               "wedged 20 maps",
                               "wedged 21 maps 5",
                               "wedged 20 maps 0",
                               "wedged 20 maps x",
                               "wedged 20 MAPS 5",
                               "open 20 cap",
                               "open 20 capx",
                               "mapped 20 cap-1",
                               "mount 21 mnt:[1]"}) {
        const auto evidence = read_survey(survey(known + record + "\n" + all_done), "n");
        ASSERT_TRUE(evidence.has_value());
        EXPECT_FALSE(evidence->complete) << record;
        EXPECT_THAT(evidence->processes, IsEmpty()) << record;
        EXPECT_THAT(evidence->incomplete_reason, HasSubstr("not as the protocol has it")) << record;
    }
}

TEST(Survey, IsRefusedWholeWhereSomethingIsSaidTwice) {
    for (const std::string& record :
         {proc(20, 0), std::string("tool gpu 0\n"), std::string("done maps\n"), std::string("exe 20 /x\n"),
          std::string("argv 20 x\n"), std::string("mount 20 m\n"), std::string("tool opt skipped\n"),
          std::string("tool list 0\n"), std::string("took opt 3\n"), std::string("fields a,b\n"),
          std::string("unknown-field a\n"), std::string("pci\n"), std::string("wedged 20 maps 5\n")}) {
        const auto once = record.starts_with("proc") ? record : proc(20, 0) + record;
        EXPECT_FALSE(read_survey(survey(once + record), "n")->complete) << record;
    }
}

std::string times(int count, const std::function<std::string(int)>& record) {
    std::string text;
    for (int i = 0; i < count; ++i) text += record(i);
    return text;
}

TEST(Survey, IsRefusedWholeWhereThereIsMoreThanTheScriptPrints) {
    const auto bus = [](int i) { return fmt::format("pcigpu {:04x}:00:00.0 nvidia\n", i); };
    const auto cap = [](int i) { return fmt::format("cap 0 0 - {}\n", i); };
    const auto field = [](int i) { return fmt::format("unknown-field f{}\n", i); };
    const auto opt = [](int) { return std::string("opt x\n"); };
    const auto list = [](int) { return std::string("list x\n"); };
    const auto fields = [](int count) {
        return "fields a" + times(count - 1, [](int) { return std::string(",a"); }) + "\n";
    };
    EXPECT_TRUE(read_survey(survey("pci\n" + times(1024, bus)), "n")->complete);
    EXPECT_FALSE(read_survey(survey("pci\n" + times(1025, bus)), "n")->complete);
    EXPECT_TRUE(read_survey(survey(times(4096, cap)), "n")->complete);
    EXPECT_FALSE(read_survey(survey(times(4097, cap)), "n")->complete);
    EXPECT_TRUE(read_survey(survey(times(128, field)), "n")->complete);
    EXPECT_FALSE(read_survey(survey(times(129, field)), "n")->complete);
    EXPECT_TRUE(read_survey(survey(times(1024, opt) + times(1024, list)), "n")->complete);
    EXPECT_FALSE(read_survey(survey(times(1025, opt)), "n")->complete);
    EXPECT_FALSE(read_survey(survey(times(1025, list)), "n")->complete);
    EXPECT_TRUE(read_survey(survey(fields(128)), "n")->complete);
    EXPECT_FALSE(read_survey(survey(fields(129)), "n")->complete);
}

}  // namespace
}  // namespace cleanslate::agentless
