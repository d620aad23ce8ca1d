#include "controller/become.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"
#include "controller/settings.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

std::vector<agentless::HostTask> two_hosts(bool second_becomes) {
    std::vector<agentless::HostTask> tasks(2);
    tasks[0].host.name = "gpu01";
    tasks[1].host.name = "gpu02";
    if (second_becomes) tasks[1].host.become = true;
    return tasks;
}

struct Asked {
    std::vector<std::string> questions;
    agentless::Reach reach;
    Status status;
};

Asked fill(const Words& words, const std::vector<agentless::HostTask>& tasks,
           const Result<std::string>& answer = std::string("geheim")) {
    Asked asked;
    asked.status = fill_become_password(read(words), tasks, asked.reach, [&](std::string_view question) {
        asked.questions.emplace_back(question);
        return answer;
    });
    return asked;
}

TEST(BecomePassword, IsAskedOnceAndOnlyWhereItIsAskedFor) {
    const Asked asked = fill({"check", "-i", "x", "--become", "--ask-become-pass"}, two_hosts(false));
    EXPECT_EQ(asked.questions, Words{"Password of sudo on 2 hosts: "});
    EXPECT_EQ(asked.reach.become_password, "geheim");
    const Asked not_asked = fill({"check", "-i", "x", "--become"}, two_hosts(true));
    EXPECT_TRUE(not_asked.questions.empty());
    EXPECT_EQ(not_asked.reach.become_password, std::nullopt);
}

TEST(BecomePassword, IsForHostsWhoseInventorySaysThatTheyBecome) {
    const Asked asked = fill({"check", "-i", "x", "--ask-become-pass"}, two_hosts(true));
    EXPECT_EQ(asked.questions, Words{"Password of sudo on 1 host: "});
    EXPECT_EQ(asked.reach.become_password, "geheim");
}

TEST(BecomePassword, IsAUsageErrorWhereNoHostBecomes) {
    const Asked asked = fill({"check", "-i", "x", "--ask-become-pass"}, two_hosts(false));
    EXPECT_TRUE(asked.questions.empty());
    ASSERT_FALSE(asked.status);
    EXPECT_EQ(asked.status.error().kind, "usage");
    EXPECT_THAT(asked.status.error().message, HasSubstr("no selected host becomes root"));
}

TEST(BecomePassword, ThatCouldNotBeHadIsTheErrorThatSaysWhy) {
    const Asked asked =
        fill({"check", "-i", "x", "--ask-become-pass"}, two_hosts(true), fail("usage", "interrupted"));
    ASSERT_FALSE(asked.status);
    EXPECT_EQ(asked.status.error().message, "interrupted");
    EXPECT_EQ(asked.reach.become_password, std::nullopt);
}

TEST(BecomePassword, IsGoneFromMemoryWithItsScope) {
    agentless::Reach reach;
    reach.become_password = "geheim";
    { const PasswordScope scope(reach); }
    EXPECT_EQ(reach.become_password, "");
}

TEST(Become, ReachesTheFleetAndNothingButTheFlagTurnsItOn) {
    EXPECT_TRUE(reach_for(read({"check", "-i", "x", "--become"}), {}).become);
    EXPECT_FALSE(reach_for(read({"check", "-i", "x", "--ask-become-pass"}), {}).become);
}

}  // namespace
}  // namespace cleanslate::controller::testing
