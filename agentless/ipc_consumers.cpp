#include "agentless/ipc_consumers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "agentless/findings.hpp"
#include "agentless/lineage.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

// A process that works on has some more now and then.
constexpr Mebibytes least_growth{64};

using Place = std::pair<std::string, Pid>;  // uuid, pid

// What the driver attributes to each on each GPU; where a line does not say it, nothing is known.
std::map<Place, Mebibytes> attributed(const Evidence& evidence) {
    std::map<Place, Mebibytes> sums;
    std::set<Place> unknown;
    for (const auto& app : evidence.apps) {
        if (!app.pid || app.uuid.empty()) continue;
        const Place place{app.uuid, *app.pid};
        if (app.used)
            sums[place] += *app.used;
        else
            unknown.insert(place);
    }
    for (const auto& place : unknown) sums.erase(place);
    return sums;
}

std::map<Pid, const Process*> living(const Evidence& evidence) {
    std::map<Pid, const Process*> processes;
    for (const auto& process : evidence.processes)
        if (!has_ended(process)) processes.emplace(process.key.pid, &process);
    return processes;
}

const Process* at(const std::map<Pid, const Process*>& processes, Pid pid) {
    const auto found = processes.find(pid);
    return found == processes.end() ? nullptr : found->second;
}

std::string gpu_name(const std::string& uuid, const Evidence& evidence) {
    for (const auto& row : evidence.gpus)
        if (row.index && row.uuid == uuid) return fmt::format("GPU {}", *row.index);
    return printable(uuid);
}

}  // namespace

void add_consumers(const Evidence& before, const Evidence& after, const std::set<ProcessKey>& signalled,
                   std::vector<Finding>& findings) {
    const auto then = attributed(before), now = attributed(after);
    const auto lived = living(before), lives = living(after);
    struct Gone {
        Mebibytes used;
        Pid pid = 0;
    };
    std::multimap<std::string, Gone> gone;  // by uuid
    for (const auto& [place, used] : then) {
        const Process* process = at(lived, place.second);
        if (process == nullptr || !signalled.contains(process->key)) continue;
        const Process* left = at(lives, place.second);
        if (left == nullptr || left->key != process->key) gone.emplace(place.first, Gone{used, place.second});
    }
    if (gone.empty()) return;
    Findings folded(findings);
    for (const auto& [place, used] : now) {
        const Process* process = at(lives, place.second);
        const Process* same = at(lived, place.second);
        const auto had = then.find(place);
        if (process == nullptr || same == nullptr || same->key != process->key || had == then.end()) continue;
        if (signalled.contains(process->key) || used < had->second + least_growth) continue;
        const auto growth = used - had->second;
        const Gone* largest = nullptr;  // of those that it may be the memory of
        const auto [first, last] = gone.equal_range(place.first);
        for (auto one = first; one != last; ++one)
            if (growth.count * 2 >= one->second.used.count &&
                (largest == nullptr || largest->used < one->second.used))
                largest = &one->second;
        if (largest != nullptr)
            folded.add(finding("ipc-consumer",
                               fmt::format("pid {} ({}) has {} MiB more on {} since pid {} was ended",
                                           process->key.pid, ellipsize(printable(process->comm), 24),
                                           growth.count, gpu_name(place.first, after), largest->pid)));
    }
}

}  // namespace cleanslate::agentless
