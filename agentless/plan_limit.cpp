#include "agentless/plan_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cleanslate::agentless {

namespace {

using Kind = CommandAction::Kind;

bool is_planned(const CommandAction& action) {
    return action.planned && !action.withheld && !action.not_sent;
}

// Those that a step of the plan would end.
std::set<ProcessKey> processes_in(const HostOutcome& host) {
    std::set<ProcessKey> processes;
    for (const auto& action : host.signals)
        if (action.result == SignalResult::planned) processes.insert(action.process.key);
    for (const auto& step : host.plan_steps) {
        const bool stops = std::ranges::any_of(step.commands, [&](std::size_t i) {
            return host.commands[i].kind == Kind::stop && is_planned(host.commands[i]);
        });
        if (stops) processes.insert(step.targets.begin(), step.targets.end());
    }
    return processes;
}

// What the step would do stays in sight, and why it would not come to it.
void withhold_plan(HostOutcome& host) {
    for (auto& step : host.plan_steps) {
        bool any = std::ranges::any_of(host.signals, [&](const SignalAction& action) {
            return action.step == step.step && action.result == SignalResult::planned;
        });
        for (const auto i : step.commands) {
            CommandAction& action = host.commands[i];
            if (!is_planned(action)) continue;
            any = true;
            action.planned = action.conditional = false;
            action.withheld = true;
        }
        if (any)
            step.notes.emplace_back("would be withheld: more processes than may be signalled on all hosts");
    }
    std::erase_if(host.signals,
                  [](const SignalAction& action) { return action.result == SignalResult::planned; });
    host.plan.reset();
}

}  // namespace

void limit_plan(std::vector<HostOutcome>& hosts, int limit) {
    std::vector<std::size_t> counts;
    std::size_t total = 0;
    for (const auto& host : hosts) {
        counts.push_back(processes_in(host).size());
        total += counts.back();
    }
    if (total <= static_cast<std::size_t>(std::max(0, limit))) return;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        if (counts[i] > 0)
            hosts[i].findings.push_back(
                {Severity::dirty, "too-many-targets",
                 fmt::format("{} here, {} on all hosts together would be signalled, and --max-kills-total "
                             "allows {}: none is",
                             counts[i], total, limit),
                 "look at the plan with --dry-run, and raise --max-kills-total if all of it is right"});
        withhold_plan(hosts[i]);
    }
}

}  // namespace cleanslate::agentless
