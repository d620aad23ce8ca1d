#include <algorithm>

#include "agentless/targets.hpp"

namespace cleanslate::agentless {

namespace {

bool runs_in(const std::string& cgroup, const std::string& unit) {
    return !unit.empty() && cgroup.starts_with(unit) &&
           (cgroup.size() == unit.size() || cgroup[unit.size()] == '/');
}

}  // namespace

Consent consent_for(const Choice& choice, const Evidence& evidence) {
    Consent consent;
    consent.boot_id = evidence.boot_id;
    for (const auto& target : choice.targets) {
        consent.listed.insert(target.key);
        if (target.supervisor && target.supervisor->respawns() && !target.supervisor->path.empty())
            consent.units.insert(target.supervisor->path);
    }
    return consent;
}

void extend_consent(std::optional<Consent>& plan, const Choice& choice, const Evidence& evidence) {
    auto more = consent_for(choice, evidence);
    if (!plan) {
        plan = std::move(more);
        return;
    }
    plan->listed.merge(more.listed);
    plan->units.merge(more.units);
}

bool covers(const Consent& consent, const Process& process, const Evidence& evidence,
            const Lineage& lineage) {
    // Pids and start times mean the same processes only as long as the host has not booted.
    if (consent.boot_id.empty() || consent.boot_id != evidence.boot_id) return false;
    if (consent.listed.contains(process.key)) return true;
    if (process.cgroup)
        for (const auto& unit : consent.units)
            if (runs_in(*process.cgroup, unit)) return true;
    return std::ranges::any_of(lineage.ancestors(process),
                               [&](const Process* above) { return consent.listed.contains(above->key); });
}

}  // namespace cleanslate::agentless
