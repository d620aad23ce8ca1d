#include "agentless/lineage.hpp"

#include <tuple>

namespace cleanslate::agentless {

namespace {

// Beyond the start time only so that the order of a survey's records never counts.
bool is_younger(const Process& a, const Process& b) {
    return std::tie(a.key.start, a.parent, a.uid, a.session, a.comm, a.exe, a.argv, a.cgroup) >
           std::tie(b.key.start, b.parent, b.uid, b.session, b.comm, b.exe, b.argv, b.cgroup);
}

}  // namespace

Lineage::Lineage(const Evidence& evidence) {
    by_pid_.reserve(evidence.processes.size());
    for (const auto& process : evidence.processes) {
        const auto [there, is_new] = by_pid_.emplace(process.key.pid, &process);
        if (is_new) continue;
        twice_.insert(process.key.pid);
        if (is_younger(process, *there->second)) there->second = &process;
    }
}

const Process* Lineage::find(Pid pid) const {
    const auto found = by_pid_.find(pid);
    return found == by_pid_.end() ? nullptr : found->second;
}

const Process* Lineage::parent(const Process& process) const {
    const Process* parent = find(process.parent);
    if (parent == nullptr || parent->key.pid == process.key.pid || parent->key.start > process.key.start)
        return nullptr;
    return parent;
}

std::vector<const Process*> Lineage::ancestors(const Process& process) const {
    std::vector<const Process*> ancestors;
    std::unordered_set<Pid> seen{process.key.pid};
    for (const Process* p = parent(process); p != nullptr && seen.insert(p->key.pid).second; p = parent(*p)) {
        if (ancestors.size() == deepest) break;
        ancestors.push_back(p);
    }
    return ancestors;
}

}  // namespace cleanslate::agentless
