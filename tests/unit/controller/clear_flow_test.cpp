#include "controller/clear_flow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;

// A fleet that answers what it was told to, and remembers what it was asked.
struct FakeFleet {
    SweepResult plan, deed;
    std::vector<SweepOrder> orders;
    int questions = 0;
    Answer answer = Answer::yes;

    FakeFleet(std::vector<HostOutcome> planned, std::vector<HostOutcome> done) {
        plan.hosts = std::move(planned);
        deed.hosts = std::move(done);
    }
    Result<ClearResult> clear(SweepLimits limits = {}) {
        SweepOrder order;
        for (const HostOutcome& host : plan.hosts) order.tasks.emplace_back().host.name = host.name;
        order.job.kind = Job::Kind::clear;
        order.limits = limits;
        const Sweeper sweep = [this](std::vector<HostTask> tasks, Job job,
                                     SweepLimits bounds) -> Result<SweepResult> {
            orders.push_back({std::move(tasks), std::move(job), bounds});
            return orders.size() == 1 ? plan : deed;
        };
        const AskForYes ask = [this](const SweepResult&) {
            ++questions;
            return answer;
        };
        return clear_after_yes(order, sweep, ask);
    }
    std::vector<std::string> names(std::size_t sweep) const {
        std::vector<std::string> list;
        for (const HostTask& task : orders.at(sweep).tasks) list.push_back(task.host.name);
        return list;
    }
};

HostOutcome cleared_host(std::string name) {
    HostOutcome host = clean_host(std::move(name));
    host.signals.push_back(signal_action(1, "TERM", holder(812, "alice", "x"), SignalResult::ended));
    return host;
}

TEST(ClearAfterYes, PlansAsksAndActsOnWhatWasListed) {
    FakeFleet fleet({clean_host("gpu01"), planned_host("gpu02"), unreachable_host("gpu03")},
                    {cleared_host("gpu02")});
    const auto done = fleet.clear();
    ASSERT_TRUE(done);
    EXPECT_EQ(done->course, Course::done);
    ASSERT_EQ(fleet.orders.size(), 2u);
    EXPECT_EQ(fleet.questions, 1);
    EXPECT_TRUE(fleet.orders[0].job.dry_run);
    EXPECT_FALSE(fleet.orders[1].job.dry_run);
    EXPECT_THAT(fleet.names(0), ElementsAre("gpu01", "gpu02", "gpu03"));
    EXPECT_THAT(fleet.names(1), ElementsAre("gpu02"));
    const auto& consent = fleet.orders[1].tasks[0].consent;
    ASSERT_TRUE(consent);
    EXPECT_EQ(consent->listed, (std::set<ProcessKey>{{812, 5812}}));
    EXPECT_EQ(consent->boot_id, "b00t");
}

TEST(ClearAfterYes, KeepsEachHostInItsPlace) {
    FakeFleet fleet(
        {planned_host("gpu01"), clean_host("gpu02"), planned_host("gpu03"), unreachable_host("gpu04")},
        {cleared_host("gpu01"), dirty_host("gpu03")});
    const auto done = fleet.clear();
    ASSERT_TRUE(done);
    ASSERT_EQ(done->result.hosts.size(), 4u);
    EXPECT_EQ(done->result.hosts[0].signals[0].result, SignalResult::ended);
    EXPECT_EQ(done->result.hosts[1].verdict, Verdict::clean);
    EXPECT_EQ(done->result.hosts[2].name, "gpu03");
    EXPECT_EQ(done->result.hosts[2].verdict, Verdict::dirty);
    EXPECT_EQ(done->result.hosts[3].verdict, Verdict::unreachable);
}

TEST(ClearAfterYes, AsksNothingWhereNothingWouldBeDone) {
    FakeFleet fleet({clean_host("gpu01"), dirty_host("gpu02")}, {});
    const auto done = fleet.clear();
    ASSERT_TRUE(done);
    EXPECT_EQ(done->course, Course::nothing_to_do);
    EXPECT_EQ(fleet.questions, 0);
    EXPECT_EQ(fleet.orders.size(), 1u);
}

TEST(ClearAfterYes, EndsLikeADryRunWhenDeclined) {
    FakeFleet fleet({planned_host("gpu01")}, {});
    fleet.answer = Answer::no;
    const auto done = fleet.clear();
    ASSERT_TRUE(done);
    EXPECT_EQ(done->course, Course::declined);
    EXPECT_EQ(fleet.orders.size(), 1u);
    EXPECT_EQ(done->result.hosts[0].signals[0].result, SignalResult::planned);
}

TEST(ClearAfterYes, DoesNothingWhenInterruptedAtTheQuestion) {
    FakeFleet fleet({planned_host("gpu01")}, {});
    fleet.answer = Answer::interrupted;
    const auto done = fleet.clear();
    ASSERT_TRUE(done);
    EXPECT_EQ(done->course, Course::stopped);
    EXPECT_TRUE(done->result.interrupted);
    EXPECT_EQ(fleet.orders.size(), 1u);
}

TEST(ClearAfterYes, AsksNothingAboutAPlanThatWasCutShort) {
    for (bool SweepResult::*cut : {&SweepResult::interrupted, &SweepResult::deadline_passed,
                                   &SweepResult::failure_limit_reached, &SweepResult::audit_failed}) {
        FakeFleet fleet({planned_host("gpu01"), not_tried_host("gpu02")}, {});
        fleet.plan.*cut = true;
        const auto done = fleet.clear();
        ASSERT_TRUE(done);
        EXPECT_EQ(done->course, Course::stopped);
        EXPECT_EQ(fleet.questions, 0);
        EXPECT_EQ(fleet.orders.size(), 1u);
    }
}

TEST(ClearAfterYes, BindsAPlanOfCommandsOnlyToNoProcess) {
    HostOutcome host = clean_host("gpu01");
    host.commands.emplace_back().planned = true;
    FakeFleet fleet({host}, {clean_host("gpu01")});
    ASSERT_TRUE(fleet.clear());
    const auto& consent = fleet.orders.at(1).tasks[0].consent;
    ASSERT_TRUE(consent);
    EXPECT_TRUE(consent->listed.empty());
    EXPECT_EQ(consent->boot_id, "b00t");
}

TEST(ClearAfterYes, LeavesTheDeedTheRestOfTheDeadline) {
    FakeFleet fleet({planned_host("gpu01")}, {cleared_host("gpu01")});
    SweepLimits limits;
    limits.deadline = Milliseconds{60'000};
    ASSERT_TRUE(fleet.clear(limits));
    EXPECT_EQ(fleet.orders[0].limits.deadline, Milliseconds{60'000});
    EXPECT_LE(*fleet.orders[1].limits.deadline, Milliseconds{60'000});
    EXPECT_GT(*fleet.orders[1].limits.deadline, Milliseconds{50'000});
}

TEST(ClearAfterYes, PassesOnWhatStoppedTheDeed) {
    FakeFleet fleet({planned_host("gpu01")}, {dirty_host("gpu01")});
    fleet.plan.notes = {"one"};
    fleet.deed.notes = {"two"};
    fleet.deed.interrupted = true;
    const auto done = fleet.clear();
    ASSERT_TRUE(done);
    EXPECT_TRUE(done->result.interrupted);
    EXPECT_THAT(done->result.notes, ElementsAre("two", "one"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
