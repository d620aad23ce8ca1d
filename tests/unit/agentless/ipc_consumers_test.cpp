// Who took over memory of processes that were ended.

#include "agentless/ipc_consumers.hpp"

#include <gtest/gtest.h>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

std::vector<std::string> consumers(Scene before, Scene after,
                                   const std::set<ProcessKey>& signalled = {{812, 8120}}) {
    std::vector<Finding> findings;
    add_consumers(before.evidence(), after.evidence(), signalled, findings);
    std::vector<std::string> lines;
    for (const auto& found : findings) lines.push_back(found.code + ": " + found.text);
    return lines;
}

// Producer 812 with 10850 MiB on GPU 2, consumer 813 with a context there.
Scene pair() { return Scene(8).holder(812, 2, 10850).holder(813, 2, 520); }

TEST(IpcConsumer, IsWhoseMemoryGrewWhenTheProducerEnded) {
    EXPECT_EQ(
        consumers(pair(), Scene(8).holder(813, 2, 10852)),
        std::vector<std::string>{"ipc-consumer: pid 813 (python3) has 10332 MiB more on GPU 2 since pid 812 "
                                 "was ended"});
}

TEST(IpcConsumer, IsNobodyWhoGrewLittle) {
    EXPECT_TRUE(consumers(pair(), Scene(8).holder(813, 2, 5000)).empty());
    const auto small = Scene(8).holder(812, 2, 100).holder(813, 2, 520);
    EXPECT_TRUE(consumers(small, Scene(8).holder(813, 2, 580)).empty());
    EXPECT_EQ(consumers(small, Scene(8).holder(813, 2, 584)).size(), 1U);
}

TEST(IpcConsumer, IsNobodyOnAnotherGpu) {
    EXPECT_TRUE(consumers(Scene(8).holder(812, 2, 10850).holder(813, 3, 520), Scene(8).holder(813, 3, 12000))
                    .empty());
}

TEST(IpcConsumer, IsNobodyWhileTheProducerLives) {
    EXPECT_TRUE(consumers(pair(), Scene(8).holder(812, 2, 10850).holder(813, 2, 10852)).empty());
}

TEST(IpcConsumer, IsNobodyWhereNobodyWasSignalled) {
    EXPECT_TRUE(consumers(pair(), Scene(8).holder(813, 2, 10852), {}).empty());
}

TEST(IpcConsumer, IsNobodyWhoWasSignalledOrIsNotTheSame) {
    const auto after = Scene(8).holder(813, 2, 10852);
    EXPECT_TRUE(consumers(pair(), after, {{812, 8120}, {813, 8130}}).empty());
    auto reused = after;
    reused.get(813).key.start = 1;
    EXPECT_TRUE(consumers(pair(), reused).empty());
    EXPECT_TRUE(consumers(Scene(8).holder(812, 2, 10850), after).empty());
}

TEST(IpcConsumer, IsNobodyWhoseMemoryTheDriverDoesNotSay) {
    auto before = pair();
    before.evidence().apps[1].used.reset();
    EXPECT_TRUE(consumers(before, Scene(8).holder(813, 2, 10852)).empty());
}

TEST(IpcConsumer, IsNamedWithTheLargestThatItMayHaveTakenFrom) {
    EXPECT_EQ(
        consumers(pair().holder(811, 2, 600), Scene(8).holder(813, 2, 10852), {{811, 8110}, {812, 8120}}),
        std::vector<std::string>{"ipc-consumer: pid 813 (python3) has 10332 MiB more on GPU 2 since pid 812 "
                                 "was ended"});
}

TEST(IpcConsumer, IsFoldedWhereThereAreMany) {
    Scene before = Scene(8).holder(812, 2, 200), after(8);
    for (Pid pid = 900; pid < 1000; ++pid) {
        before.holder(pid, 2, 10);
        after.holder(pid, 2, 510);
    }
    const auto lines = consumers(before, after);
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[4], "ipc-consumer: and 96 more of the kind");
}

}  // namespace
}  // namespace cleanslate::agentless
