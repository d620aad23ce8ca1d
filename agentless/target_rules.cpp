#include "agentless/target_rules.hpp"

#include <fmt/format.h>

#include "agentless/process_name.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

Spared spared(const Process& process, std::string_view code, std::string why) {
    return {process.key, std::string(code), std::move(why)};
}

TargetRules::TargetRules(const Matcher& matcher, const Evidence& evidence, const ChoicePolicy& policy,
                         const Lineage& lineage, const std::vector<const Process*>& processes)
    : matcher_(matcher), evidence_(evidence), policy_(policy), lineage_(lineage) {
    no_scheduler_ = policy.needs_scheduler && !scheduler_of(evidence);
    for (const Process* process : processes)
        if (matcher.other_gpus(*process))
            for (const Process* above : lineage.ancestors(*process))
                outside_below_.emplace(above->key.pid, process);
}

bool TargetRules::is_protected(const Process& process) const {
    return protected_by(process, evidence_, policy_.protection) ||
           may_be_protected(process, policy_.protection);
}

std::optional<Spared> TargetRules::spare(const Process& process) const {
    if (auto left = spare_any(process)) return left;
    if (matcher_.unconfirmed(process))
        return spared(
            process, "not-confirmed",
            "the driver lists this pid, but its descriptors could not be read: it may be the pid of "
            "another process, in another pid namespace");
    return spare_outside_plan(process);
}

std::optional<Spared> TargetRules::spare_in_tree(const Process& process) const {
    if (auto left = spare_any(process)) return left;
    if (const auto below = outside_below_.find(process.key.pid); below != outside_below_.end())
        return spared(process, "other-gpu",
                      fmt::format("its descendant {} uses {}", below->second->key.pid,
                                  matcher_.other_gpus(*below->second).value_or("")));
    return spare_outside_plan(process);
}

std::optional<Spared> TargetRules::spare_any(const Process& process) const {
    if (const auto rule = protected_by(process, evidence_, policy_.protection))
        return spared(process, "protected", fmt::format("protected ({})", *rule));
    if (auto left = spare_job(process)) return left;
    if (!evidence_.root && process.uid != evidence_.uid)
        return spared(process, "not-permitted",
                      fmt::format("it belongs to {}, and the login is not root", owner_of(process)));
    if (auto left = spare_unproven(process)) return left;
    if (const auto others = matcher_.other_gpus(process))
        return spared(process, "other-gpu", fmt::format("it also uses {}", *others));
    return std::nullopt;
}

std::optional<Spared> TargetRules::spare_job(const Process& process) const {
    const auto supervisor = supervisor_of(process, lineage_);
    if (!supervisor.scheduled() || policy_.include_jobs) return std::nullopt;
    if (policy_.own_job && !supervisor.job_id.empty() && *policy_.own_job == supervisor.job_id)
        return std::nullopt;
    return spared(
        process, "scheduled-job",
        fmt::format("in {} of {}; --include-jobs would include it", supervisor.name, owner_of(process)));
}

// What was not observed is no ground to kill: the process may be another than it seems.
std::optional<Spared> TargetRules::spare_unproven(const Process& process) const {
    if (const auto entry = may_be_protected(process, policy_.protection))
        return spared(
            process, "not-confirmed",
            fmt::format("it calls itself {}, which is protected, and its executable could not be read",
                        *entry));
    if (!process.uid) return spared(process, "not-confirmed", "its owner could not be read");
    if (lineage_.given_away(process.key.pid))
        return spared(process, "not-confirmed", "its pid was given away during the survey");
    return std::nullopt;
}

// Last, so that a plan and what is done by it give the same reasons for all else.
std::optional<Spared> TargetRules::spare_outside_plan(const Process& process) const {
    if (no_scheduler_)
        return spared(
            process, "no-scheduler",
            "no scheduler can be recognised on this host, so who runs there by hand would look like "
            "an orphan; `unscheduled: true` in the inventory would include it");
    if (policy_.consent != nullptr && !covers(*policy_.consent, process, evidence_, lineage_))
        return spared(process, "new-since-plan",
                      "not in the plan that was agreed to, nor a later child or a respawn");
    return std::nullopt;
}

}  // namespace cleanslate::agentless
