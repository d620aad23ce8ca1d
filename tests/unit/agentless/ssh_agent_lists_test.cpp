#include "agentless/ssh/agent_lists.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::chrono_literals;

const Clock::time_point start{};

TEST(SshAgentLists, a_list_is_believed_for_some_seconds) {
    AgentLists lists;
    EXPECT_FALSE(lists.known("a", start + 1h));
    lists.note("a", {{"key"}, "", false}, start + 1h);
    ASSERT_TRUE(lists.known("a", start + 1h + 9s));
    EXPECT_TRUE(lists.known("a", start + 1h + 9s)->holds("key"));
    EXPECT_FALSE(lists.known("a", start + 1h + 9s)->holds("other"));
    EXPECT_FALSE(lists.known("a", start + 1h + 11s));
    EXPECT_FALSE(lists.known("b", start + 1h));
}

TEST(SshAgentLists, one_asks_and_the_others_wait) {
    AgentLists lists;
    EXPECT_TRUE(lists.take_turn("a", start + 1h));
    EXPECT_FALSE(lists.take_turn("a", start + 1h + 1s));
    EXPECT_TRUE(lists.take_turn("b", start + 1h + 1s)) << "another agent";
    EXPECT_TRUE(lists.take_turn("a", start + 1h + 10s)) << "whoever asked never said";
    lists.note("a", {}, start + 1h + 11s);
    EXPECT_TRUE(lists.take_turn("a", start + 1h + 12s));
}

TEST(SshAgentLists, a_failure_is_believed_too_but_not_over_a_fresh_list) {
    AgentLists lists;
    lists.note("a", {{}, "the agent does not answer", false}, start + 1h);
    ASSERT_TRUE(lists.known("a", start + 1h + 20s));
    EXPECT_EQ(lists.known("a", start + 1h + 20s)->problem, "the agent does not answer");
    lists.note("a", {{"key"}, "", false}, start + 2h);
    EXPECT_EQ(lists.note("a", {{}, "the agent has hung up", false}, start + 2h + 1s)->problem, "");
    EXPECT_EQ(lists.note("a", {{}, "the agent has hung up", false}, start + 3h)->problem,
              "the agent has hung up");
}

TEST(SshAgentLists, one_that_was_cancelled_tells_nothing) {
    AgentLists lists;
    lists.note("a", {{}, "cancelled", true}, start + 1h);
    EXPECT_FALSE(lists.known("a", start + 1h));
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
