#include "agentless/shared_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cleanslate::agentless {

void share_notes(std::vector<GpuVerdict>& gpus, Findings& host) {
    const auto has = [](const GpuVerdict& gpu, const Finding& note) {
        return std::ranges::any_of(gpu.findings, [&](const Finding& f) {
            return f.severity == Severity::note && f.code == note.code && f.text == note.text;
        });
    };
    // A row of failure texts shows little else, and one that is not there nothing.
    const auto can_tell = [](const GpuVerdict& gpu) {
        return gpu.verdict != Verdict::sick &&
               std::ranges::find(gpu.findings, "no-row", &Finding::code) == gpu.findings.end();
    };
    const auto healthy = std::ranges::find_if(gpus, can_tell);
    if (healthy == gpus.end()) return;
    std::vector<Finding> shared;
    for (const auto& note : healthy->findings) {
        if (note.severity != Severity::note) continue;
        const bool all = std::ranges::all_of(
            gpus, [&](const GpuVerdict& gpu) { return !can_tell(gpu) || has(gpu, note); });
        if (all && std::ranges::count_if(gpus, [&](const GpuVerdict& gpu) { return has(gpu, note); }) > 1)
            shared.push_back(note);
    }
    for (auto& note : shared) {
        std::size_t count = 0;
        for (auto& gpu : gpus)
            count += std::erase_if(gpu.findings, [&](const Finding& f) {
                return f.severity == Severity::note && f.code == note.code && f.text == note.text;
            });
        note.text += count == gpus.size() ? fmt::format(" (all {} GPUs)", count)
                                          : fmt::format(" ({} of {} GPUs)", count, gpus.size());
        host.add(std::move(note));
    }
}

}  // namespace cleanslate::agentless
