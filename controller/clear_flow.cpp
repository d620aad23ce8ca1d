#include "controller/clear_flow.hpp"

#include <algorithm>
#include <chrono>

namespace cleanslate::controller {
namespace {

using namespace agentless;

Milliseconds since(std::chrono::steady_clock::time_point then) {
    return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - then);
}

bool cut_short(const SweepResult& result) {
    return result.interrupted || result.deadline_passed || result.failure_limit_reached ||
           result.audit_failed;
}

Consent consent_of(const HostOutcome& planned) {
    if (planned.plan) return *planned.plan;
    Consent none;  // a plan of commands only: no process was listed
    none.boot_id = planned.boot_id;
    return none;
}

// The hosts that have a plan, each bound to it; `places` says where in the plan each stands.
SweepOrder agreed_order(const SweepOrder& order, const SweepResult& plan, Milliseconds used,
                        std::vector<std::size_t>& places) {
    SweepOrder agreed{{}, order.job, order.limits};
    if (agreed.limits.deadline)
        agreed.limits.deadline = std::max(Milliseconds{1}, *agreed.limits.deadline - used);
    for (std::size_t i = 0; i < plan.hosts.size() && i < order.tasks.size(); ++i) {
        if (!has_plan(plan.hosts[i])) continue;
        agreed.tasks.push_back(order.tasks[i]);
        agreed.tasks.back().consent = consent_of(plan.hosts[i]);
        places.push_back(i);
    }
    return agreed;
}

SweepResult merged(SweepResult plan, SweepResult deed, const std::vector<std::size_t>& places) {
    std::vector<HostOutcome> hosts = std::move(plan.hosts);
    for (std::size_t i = 0; i < places.size() && i < deed.hosts.size(); ++i)
        hosts[places[i]] = std::move(deed.hosts[i]);
    for (const std::string& note : plan.notes)
        if (std::ranges::find(deed.notes, note) == deed.notes.end()) deed.notes.push_back(note);
    deed.hosts = std::move(hosts);
    return deed;
}

}  // namespace

std::string_view to_string(Course course) {
    switch (course) {
        case Course::done:
            return "done";
        case Course::nothing_to_do:
            return "nothing to do";
        case Course::declined:
            return "declined";
        case Course::stopped:
            return "stopped before the question was answered";
    }
    return "";
}

Result<ClearResult> clear_after_yes(const SweepOrder& order, const Sweeper& sweep, const AskForYes& ask) {
    const auto began = std::chrono::steady_clock::now();
    Job dry = order.job;
    dry.dry_run = true;
    auto plan = sweep(order.tasks, dry, order.limits);
    if (!plan) return std::unexpected(plan.error());
    const Milliseconds planning = since(began);
    if (cut_short(*plan)) return ClearResult{std::move(*plan), Course::stopped, planning};
    if (std::ranges::none_of(plan->hosts, has_plan))
        return ClearResult{std::move(*plan), Course::nothing_to_do, planning};
    const Answer answer = ask(*plan);
    if (answer == Answer::interrupted) {
        plan->interrupted = true;
        return ClearResult{std::move(*plan), Course::stopped, planning};
    }
    if (answer == Answer::no) return ClearResult{std::move(*plan), Course::declined, planning};
    std::vector<std::size_t> places;
    SweepOrder agreed = agreed_order(order, *plan, planning, places);
    const auto resumed = std::chrono::steady_clock::now();
    auto deed = sweep(std::move(agreed.tasks), std::move(agreed.job), agreed.limits);
    if (!deed) return std::unexpected(deed.error());
    return ClearResult{merged(std::move(*plan), std::move(*deed), places), Course::done,
                       planning + since(resumed)};
}

}  // namespace cleanslate::controller
