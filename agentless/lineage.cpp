#include "agentless/lineage.hpp"

#include <unordered_set>

namespace cleanslate::agentless {

Lineage::Lineage(const Evidence& evidence) {
    by_pid_.reserve(evidence.processes.size());
    for (const auto& process : evidence.processes) by_pid_.emplace(process.key.pid, &process);
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
