#include <algorithm>

#include "agentless/cgroup_path.hpp"
#include "agentless/targets.hpp"

namespace cleanslate::agentless {

Consent consent_for(const Choice& choice, const Evidence& evidence) {
    Consent consent;
    consent.boot_id = evidence.boot_id;
    for (const auto& target : choice.targets) {
        consent.listed.insert(target.key);
        if (!target.supervisor || !target.supervisor->respawns() || target.supervisor->path.empty()) continue;
        auto& uids = consent.units[target.supervisor->path];
        if (const Process* process = evidence.find(target.key.pid); process != nullptr && process->uid)
            uids.insert(*process->uid);
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
    for (auto& [unit, uids] : more.units) plan->units[unit].merge(uids);
}

bool covers(const Consent& consent, const Process& process, const Evidence& evidence,
            const Lineage& lineage) {
    // Pids and start times mean the same processes only as long as the host has not booted.
    if (consent.boot_id.empty() || consent.boot_id != evidence.boot_id) return false;
    if (consent.listed.contains(process.key)) return true;
    if (process.cgroup && process.uid)
        for (const auto& [unit, uids] : consent.units)
            if (uids.contains(*process.uid) && is_at_or_below(*process.cgroup, unit)) return true;
    return std::ranges::any_of(lineage.ancestors(process),
                               [&](const Process* above) { return consent.listed.contains(above->key); });
}

}  // namespace cleanslate::agentless
