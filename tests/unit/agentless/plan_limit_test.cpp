#include "agentless/plan_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cleanslate::agentless {
namespace {

// Two processes would be signalled, and a supervisor of one of them and of one more stopped.
HostOutcome planned(std::string name) {
    HostOutcome host;
    host.name = std::move(name);
    host.verdict = Verdict::dirty;
    host.plan_steps = {{1, "stop", {{1, 10}, {3, 30}}, {}, {0}, {}},
                       {2, "TERM", {{1, 10}, {2, 20}}, {}, {}, {}}};
    for (const ProcessKey key : {ProcessKey{1, 10}, ProcessKey{2, 20}}) {
        SignalAction& action = host.signals.emplace_back();
        action.step = 2;
        action.process.key = key;
    }
    CommandAction& stop = host.commands.emplace_back();
    stop.kind = CommandAction::Kind::stop;
    stop.step = 1;
    stop.planned = true;
    host.plan.emplace();
    return host;
}

bool has_finding(const HostOutcome& host) {
    return std::ranges::find(host.findings, "too-many-targets", &Finding::code) != host.findings.end();
}

TEST(PlanLimit, LetsPlansAloneThatStayWithinIt) {
    std::vector<HostOutcome> hosts{planned("a"), planned("b")};
    limit_plan(hosts, 6);  // three on each
    for (const auto& host : hosts) {
        EXPECT_EQ(host.signals.size(), 2u);
        EXPECT_TRUE(host.commands[0].planned);
        EXPECT_TRUE(host.plan);
        EXPECT_FALSE(has_finding(host));
    }
}

TEST(PlanLimit, LeavesNothingToSayYesToWhereAllHostsTogetherPassIt) {
    std::vector<HostOutcome> hosts{planned("a"), planned("b"), {}};
    hosts[2].verdict = Verdict::clean;
    limit_plan(hosts, 5);
    for (const auto& host : {hosts[0], hosts[1]}) {
        EXPECT_TRUE(host.signals.empty());
        EXPECT_FALSE(host.commands[0].planned);
        EXPECT_TRUE(host.commands[0].withheld);
        EXPECT_FALSE(host.plan);
        ASSERT_TRUE(has_finding(host));
        EXPECT_EQ(
            host.findings[0].text,
            "3 here, 6 on all hosts together would be signalled, and --max-kills-total allows 5: none is");
        EXPECT_EQ(host.plan_steps[1].targets.size(), 2u) << "they stay in sight";
        for (const auto& step : host.plan_steps)
            EXPECT_EQ(step.notes,
                      std::vector<std::string>{
                          "would be withheld: more processes than may be signalled on all hosts"});
    }
    EXPECT_FALSE(has_finding(hosts[2]));
}

}  // namespace
}  // namespace cleanslate::agentless
