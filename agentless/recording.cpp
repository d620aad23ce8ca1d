#include "agentless/recording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "agentless/nvidia_smi_cells.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

// Dirty by memory alone: what a GPU shows that is never idle below the usual limit.
constexpr std::array<std::string_view, 3> memory_alone{"memory-in-use", "memory-without-holder",
                                                       "graphics-memory"};
// The survey could not see everybody who may have a device file open.
constexpr std::array<std::string_view, 3> blind{"holders-not-visible", "holders-unreadable", "proc-hidden"};

bool is_one_of(const auto& codes, const Finding& finding) {
    return std::ranges::find(codes, finding.code) != codes.end();
}

bool is_note(const Finding& finding) { return finding.severity == Severity::note; }

// "no-row: nvidia-smi printed no row for this GPU"; of several findings the worst, the others by code.
LeftOut because(std::optional<int> index, std::vector<Finding> findings) {
    std::ranges::stable_sort(findings, [](const auto& a, const auto& b) { return b.severity < a.severity; });
    const Finding& worst = findings.front();
    std::vector<std::string> others;
    for (const Finding& finding : findings)
        if (finding.code != worst.code && std::ranges::find(others, finding.code) == others.end())
            others.push_back(finding.code);
    std::string why = worst.text.starts_with(worst.code) ? worst.text : worst.code + ": " + worst.text;
    if (!others.empty()) why += fmt::format(" (and {})", fmt::join(others, ", "));
    return {index, printable(why), worst.remedy};
}

// Why nothing of this host can be recorded; absent where some may be.
std::optional<LeftOut> against_host(const HostOutcome& host) {
    if (host.error) {
        const std::string phase = host.error->phase.empty() ? "" : host.error->phase + ": ";
        return LeftOut{{}, printable(phase + host.error->message), host.error->remedy};
    }
    if (!host.last) return LeftOut{{}, "it was not surveyed", ""};
    std::vector<Finding> grave = host.last->findings;
    grave.insert(grave.end(), host.findings.begin(), host.findings.end());
    std::erase_if(grave, is_note);
    if (!grave.empty()) return because({}, grave);
    const auto unprotected = [](const Holder& opener) { return !opener.is_protected; };
    const auto opener = std::ranges::find_if(host.last->openers, unprotected);
    if (opener != host.last->openers.end())
        return LeftOut{{}, fmt::format("pid {} has a device file open", opener->key.pid), "clear the host"};
    return std::nullopt;
}

Mebibytes of_protected(const std::vector<Holder>& holders) {
    Mebibytes sum;
    for (const Holder& holder : holders)
        if (holder.used) sum += *holder.used;
    return sum;
}

bool has_unprotected(const GpuVerdict& gpu) {
    return std::ranges::any_of(gpu.holders, [](const Holder& holder) {
        return !holder.is_protected || holder.ghost || holder.foreign_pid || holder.without_device;
    });
}

// Who has a context on one GPU has the others' device files open, too, and may be what fills them.
struct Surroundings {
    bool all_seen = false;
    bool quiet = false;  // nobody unprotected holds any GPU of the host
};

std::optional<LeftOut> against_gpu(const GpuVerdict& gpu, const Surroundings& host) {
    std::vector<Finding> grave;
    for (const Finding& finding : gpu.findings)
        if (!is_note(finding) && !is_one_of(memory_alone, finding)) grave.push_back(finding);
    if (!grave.empty()) return because(gpu.index, grave);
    if (gpu.verdict != Verdict::clean && gpu.verdict != Verdict::dirty)
        return LeftOut{gpu.index, fmt::format("it is {}", to_string(gpu.verdict)), ""};
    if (has_unprotected(gpu)) return LeftOut{gpu.index, "it is held", "clear the host"};
    if (!gpu.index || !is_uuid(gpu.uuid)) return LeftOut{gpu.index, "its index or uuid is not known", ""};
    if (!gpu.used) return LeftOut{gpu.index, "its used memory is not shown: there is nothing to record", ""};
    if (gpu.verdict == Verdict::dirty && !host.quiet)
        return LeftOut{gpu.index,
                       fmt::format("{} MiB used, and another GPU of this host is held", gpu.used->count),
                       "clear the host"};
    if (gpu.verdict == Verdict::dirty && !host.all_seen)
        return LeftOut{gpu.index,
                       fmt::format("{} MiB used, and who may hold it could not be seen", gpu.used->count),
                       "look as root on the host itself"};
    return std::nullopt;
}

// As a driver prints it; anything else is as good as not known.
std::string plain_version(const std::string& version) {
    const auto fits = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
    return version.size() <= 32 && std::ranges::all_of(version, fits) ? version : std::string();
}

}  // namespace

Recording record_idle(const HostOutcome& host, Mebibytes most) {
    Recording recording;
    if (auto why = against_host(host)) {
        recording.left_out.push_back(std::move(*why));
        recording.whole_host = true;
        return recording;
    }
    const auto is_blind = [](const Finding& finding) { return is_one_of(blind, finding); };
    const Surroundings surroundings{std::ranges::none_of(host.last->findings, is_blind),
                                    std::ranges::none_of(host.last->gpus, has_unprotected)};
    for (const GpuVerdict& gpu : host.last->gpus) {
        if (auto why = against_gpu(gpu, surroundings)) {
            recording.left_out.push_back(std::move(*why));
            continue;
        }
        const auto idle = std::max(Mebibytes{0}, *gpu.used - of_protected(gpu.holders));
        if (idle > most)
            recording.left_out.push_back(
                {gpu.index,
                 fmt::format("{} MiB used: above {} MiB it is no idle memory but a leak", idle.count,
                             most.count),
                 "find what holds it and reset the GPU, or raise --max-used"});
        else
            recording.gpus.emplace_back(
                gpu.uuid, BaselineGpu{host.name, *gpu.index, idle, plain_version(host.driver_version)});
    }
    return recording;
}

}  // namespace cleanslate::agentless
