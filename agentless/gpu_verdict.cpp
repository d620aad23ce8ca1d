#include "agentless/gpu_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/findings.hpp"
#include "agentless/limits.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

void find_sickness(const Slot& slot, Findings& findings) {
    for (const auto* message : slot.named) findings.add(finding(message->code, message->text));
    if (slot.row == nullptr) return;
    for (const auto& cell : slot.row->cells)
        if (const auto reading = read_cell(cell); reading.kind == CellKind::sick)
            findings.add(finding(reading.code, fmt::format("its row shows {}", cell)));
    for (const auto& trouble : slot.row->troubles)
        if (trouble.trouble == Trouble::sick)
            findings.add(finding(trouble.code, Severity::sick, trouble.text));
}

// Why used memory is absent: what its cell shows is not known here, so the most telling cell is named.
void find_missing_memory(const GpuRow& row, Findings& findings) {
    const auto unsupported = std::ranges::find_if(
        row.cells, [](const std::string& cell) { return read_cell(cell).kind == CellKind::not_supported; });
    if (unsupported != row.cells.end())
        findings.add(
            finding("memory-not-shown", fmt::format("the used memory is not shown ({})", *unsupported)));
    else
        findings.add(finding("memory-unreadable", "the used memory is not a plain number"));
}

void find_unknowns(const Slot& slot, const Expectations& expectations, Findings& findings) {
    if (slot.row == nullptr) {
        findings.add(finding("no-row", "nvidia-smi printed no row for this GPU"));
        return;
    }
    const auto& row = *slot.row;
    bool explained = false;
    for (const auto& trouble : row.troubles) {
        if (trouble.trouble != Trouble::unreadable && trouble.trouble != Trouble::refused) continue;
        findings.add(finding(trouble.code, Severity::unknown, trouble.text));
        explained = true;
    }
    for (const auto& cell : row.cells)
        if (const auto reading = read_cell(cell); reading.kind == CellKind::refused) {
            findings.add(finding(reading.code, fmt::format("its row shows {}", cell)));
            explained = true;
        }
    if (slot.repeated) findings.add(finding("row-repeated", "another row has its index, uuid or bus id"));
    if (slot.unexpected)
        findings.add(
            finding("index-unexpected", fmt::format("index {} is beyond the expected count", *slot.index)));
    if (row.repaired && !expectations.parse_only)
        findings.add(finding("row-fused", "the row was fused to other output, and its index only inferred"));
    if (!row.index && !explained)
        findings.add(finding("index-unreadable", "the row's index is not a plain number"));
    if (!row.used && !explained) find_missing_memory(row, findings);
}

bool alive(const Holder& holder) { return !holder.ghost && !holder.foreign_pid; }

Mebibytes used_by_protected(const std::vector<Holder>& holders) {
    Mebibytes sum;
    for (const auto& holder : holders)
        if (holder.is_protected && alive(holder) && holder.used) sum += *holder.used;
    return sum;
}

void find_ghosts(const std::vector<Holder>& holders, const std::vector<const Holder*>& unprotected, bool over,
                 Findings& findings) {
    for (const auto& holder : holders)
        if (holder.ghost)
            findings.add(finding(
                "ghost",
                fmt::format("the driver lists pid {}, which no longer lives{}", holder.key.pid,
                            holder.used ? fmt::format(", with {} MiB", holder.used->count) : std::string())));
        else if (holder.foreign_pid)
            findings.add(
                finding("foreign-holder",
                        fmt::format("the driver lists pid {}, which is not in this /proc", holder.key.pid)));
    const auto ghosts = std::ranges::any_of(holders, &Holder::ghost);
    const auto foreign = std::ranges::any_of(holders, &Holder::foreign_pid);
    const bool held = std::ranges::any_of(unprotected, [](const Holder* h) { return h->state != 'Z'; });
    if (!held && (ghosts || (over && !foreign)))
        findings.add(finding("memory-without-holder",
                             "memory is used, and no process that would hold it is to be seen"));
}

void find_dirt(const GpuVerdict& gpu, const Expectations& expectations, Findings& findings) {
    const auto own = used_by_protected(gpu.holders);
    const auto limit = expectations.max_used.value_or(default_limit);
    const bool over = gpu.used && *gpu.used - own > limit;
    std::vector<const Holder*> unprotected;
    for (const auto& holder : gpu.holders) {
        if (alive(holder) && holder.key.pid == 0)
            findings.add(finding("holder-without-pid", "the driver lists a holder without its pid"));
        else if (alive(holder) && !holder.is_protected)
            unprotected.push_back(&holder);
    }
    if (over)
        findings.add(
            finding("memory-in-use",
                    fmt::format("{} MiB used{}, the limit is {} MiB", gpu.used->count,
                                own.count > 0 ? fmt::format(", {} MiB of it by protected holders", own.count)
                                              : std::string(),
                                limit.count)));
    if (!unprotected.empty()) findings.add(finding("held", "held by " + names_of(unprotected)));
    if (!expectations.parse_only) find_ghosts(gpu.holders, unprotected, over, findings);
}

}  // namespace

Verdict verdict_of(Severity severity) {
    switch (severity) {
        case Severity::note:
            return Verdict::clean;
        case Severity::dirty:
            return Verdict::dirty;
        case Severity::sick:
            return Verdict::sick;
        case Severity::unknown:
            break;
    }
    return Verdict::unknown;
}

GpuVerdict judge_gpu(const Slot& slot, std::vector<Holder> holders, const Expectations& expectations) {
    GpuVerdict gpu;
    gpu.index = slot.index;
    gpu.uuid = printable(slot.uuid);
    gpu.bus_id = printable(slot.bus_id);
    gpu.holders = std::move(holders);
    if (slot.row != nullptr) {
        gpu.name = printable(slot.row->name);
        gpu.used = slot.row->used;
        gpu.total = slot.row->total;
        gpu.repaired = slot.row->repaired;
    }
    const bool sick = is_sick(slot);
    {
        Findings findings(gpu.findings);
        if (sick)
            find_sickness(slot, findings);
        else
            find_unknowns(slot, expectations, findings);
        find_dirt(gpu, expectations, findings);
        if (gpu.repaired)
            findings.add(finding("row-repaired", "its index was taken out of a row fused to pids"));
    }
    gpu.verdict = Verdict::clean;
    for (const auto& found : gpu.findings) gpu.verdict = worse(gpu.verdict, verdict_of(found.severity));
    if (sick) gpu.verdict = Verdict::sick;
    return gpu;
}

}  // namespace cleanslate::agentless
