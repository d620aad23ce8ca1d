#include "agentless/judged_gpus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "agentless/mig.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::size_t most_names = 16;

bool names(const std::string& entry, const GpuVerdict& gpu) {
    if (gpu.index && entry == std::to_string(*gpu.index)) return true;
    return !gpu.uuid.empty() && lowered(entry) == lowered(gpu.uuid);
}

std::string name_of(const GpuVerdict& gpu) {
    auto name = gpu.index ? std::to_string(*gpu.index) : !gpu.uuid.empty() ? gpu.uuid : gpu.bus_id;
    if (gpu.verdict != Verdict::clean) name += fmt::format(" ({})", to_string(gpu.verdict));
    return name;
}

bool all_judged(const std::vector<GpuVerdict>& gpus) {
    return std::ranges::all_of(gpus, [](const GpuVerdict& gpu) { return gpu.judged; });
}

std::optional<int> minor_of(const GpuVerdict& gpu, const Evidence& evidence) {
    if (!evidence.driver_gpus) return std::nullopt;
    for (const auto& known : *evidence.driver_gpus)
        if (!gpu.bus_id.empty() ? known.bus_id == gpu.bus_id : !gpu.uuid.empty() && known.uuid == gpu.uuid)
            return known.minor;
    return std::nullopt;
}

}  // namespace

void mark_judged(const std::vector<std::string>& only, std::vector<GpuVerdict>& gpus, Findings& findings) {
    if (only.empty()) return;
    std::vector<std::string> others;
    for (auto& gpu : gpus) {
        const bool nameless = !gpu.index && gpu.uuid.empty();
        gpu.judged =
            nameless || std::ranges::any_of(only, [&](const auto& entry) { return names(entry, gpu); });
        if (!gpu.judged) others.push_back(name_of(gpu));
    }
    for (const auto& entry : only)
        if (std::ranges::none_of(gpus, [&](const GpuVerdict& gpu) { return names(entry, gpu); }))
            findings.add(finding("gpu-not-found", fmt::format("no GPU {} was seen", entry)));
    if (others.empty()) return;
    const auto more = others.size() > most_names ? others.size() - most_names : 0;
    others.resize(others.size() - more);
    findings.add(finding("gpus-not-judged",
                         fmt::format("not judged: GPU {}{}", fmt::join(others, ", "),
                                     more == 0 ? std::string() : fmt::format(" and {} more", more))));
}

bool opener_counts(const Holder& opener, const std::vector<GpuVerdict>& gpus, const Evidence& evidence) {
    if (all_judged(gpus)) return true;
    const Process* process = evidence.find(opener.key.pid);
    if (process == nullptr) return true;
    std::set<int> others, judged;
    for (const auto& gpu : gpus) {
        const auto minor = minor_of(gpu, evidence);
        if (gpu.judged && !minor) return true;
        if (minor) (gpu.judged ? judged : others).insert(*minor);
    }
    auto minors = process->open_minors;
    minors.insert(minors.end(), process->mapped_minors.begin(), process->mapped_minors.end());
    return minors.empty() || std::ranges::any_of(minors, [&](int minor) {
               return judged.contains(minor) || !others.contains(minor);
           });
}

std::vector<ComputeApp> apps_that_count(const std::vector<GpuVerdict>& gpus, const Evidence& evidence) {
    if (all_judged(gpus)) return evidence.apps;
    std::set<std::string> others;
    for (const auto& gpu : gpus)
        if (!gpu.judged && !gpu.uuid.empty()) others.insert(gpu.uuid);
    for (const auto& gpu : gpus)
        if (gpu.judged) others.erase(gpu.uuid);
    std::vector<ComputeApp> apps;
    for (const auto& app : evidence.apps)
        if (!others.contains(app.uuid) && !others.contains(gpu_of_instance(app.uuid, evidence)))
            apps.push_back(app);
    return apps;
}

}  // namespace cleanslate::agentless
