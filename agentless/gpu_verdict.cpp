#include "agentless/gpu_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/findings.hpp"
#include "agentless/limits.hpp"
#include "agentless/mig.hpp"
#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "agentless/query_verdict.hpp"
#include "agentless/vgpu_name.hpp"
#include "agentless/witnesses.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

void find_sickness(const Slot& slot, Findings& findings) {
    // As many GPUs are named as show no name of their own: each of them is sick, and which is which is open.
    const bool one_of_several = std::ranges::any_of(slot.named, [&](const DriverMessage* message) {
        return message->bus_id != slot.named.front()->bus_id;
    });
    for (const auto* message : slot.named)
        findings.add(finding(message->code, one_of_several
                                                ? "of this GPU or of another without a name: " + message->text
                                                : message->text));
    if (slot.row == nullptr) return;
    for (const auto& cell : slot.row->cells)
        if (const auto reading = read_cell(cell); reading.kind == CellKind::sick)
            findings.add(finding(reading.code, fmt::format("its row shows {}", cell)));
    // The optional cells of a broken GPU all show the failure that its row shows: said once.
    const auto shown = [&](const DriverMessage& trouble) {
        return std::ranges::any_of(slot.row->cells, [&](const std::string& cell) {
            const auto reading = read_cell(cell);
            return reading.kind == CellKind::sick && reading.code == trouble.code;
        });
    };
    for (const auto& trouble : slot.row->troubles)
        if (trouble.trouble == Trouble::sick && !shown(trouble))
            findings.add(finding(trouble.code, Severity::sick, trouble.text));
}

// Why used memory is absent: what its cell shows is not known here, so the most telling cell is named.
void find_missing_memory(const GpuRow& row, const Expectations& expectations, Findings& findings) {
    const auto unsupported = std::ranges::find_if(
        row.cells, [](const std::string& cell) { return read_cell(cell).kind == CellKind::not_supported; });
    // The inventory has asked for it, and it was not enough.
    const std::string_view instead =
        expectations.unified_memory ? ", and not every process was seen: look as root, outside any container"
                                    : "";
    if (unsupported != row.cells.end())
        findings.add(finding("memory-not-shown",
                             fmt::format("the used memory is not shown ({}){}", *unsupported, instead)));
    else
        findings.add(finding("memory-unreadable", "the used memory is not a plain number"));
}

// The memory is the system's own and is not shown. The operator has said that this is so here, and everybody
// who could hold it was looked at. A cell of the core query that shows anything else is not excused.
bool is_unified(const Slot& slot, const Evidence& evidence, const Expectations& expectations) {
    if (!expectations.unified_memory || expectations.parse_only) return false;
    if (slot.row == nullptr || slot.row->used) return false;
    const auto columns = split(core_columns, ',');
    const auto column = std::ranges::find(columns, "memory.used") - columns.begin();
    const auto& cells = slot.row->cells;
    if (cells.size() != columns.size() ||
        read_cell(cells[static_cast<std::size_t>(column)]).kind != CellKind::not_supported)
        return false;
    return evidence.root && evidence.holders_visible && !evidence.proc_hides_others &&
           evidence.app_query.exit_status == 0;
}

void find_unknowns(const Slot& slot, bool unified, const Evidence& evidence, const Expectations& expectations,
                   Findings& findings) {
    for (const auto* message : slot.unclear)
        findings.add(finding(message->code, Severity::unknown, message->text));
    if (slot.row == nullptr) {
        auto missing = finding("no-row", "nvidia-smi printed no row for this GPU");
        if (failed_as_a_whole(evidence)) {  // why is said at the host, with what to do
            missing.text = "nvidia-smi printed no row at all";
            missing.remedy.clear();
        }
        findings.add(std::move(missing));
        return;
    }
    const auto& row = *slot.row;
    bool explained = false;
    for (const auto& trouble : row.troubles) {
        if (trouble.trouble != Trouble::unreadable && trouble.trouble != Trouble::refused) continue;
        findings.add(finding(trouble.code, Severity::unknown, trouble.text));
        explained = explained || trouble.code != "index-unreadable";  // of the index alone
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
    const bool index_said =
        std::ranges::find(row.troubles, "index-unreadable", &DriverMessage::code) != row.troubles.end();
    if (!row.index && !explained && !index_said)
        findings.add(finding("index-unreadable", "the row's index is not a plain number"));
    if (!row.used && !explained && !unified) find_missing_memory(row, expectations, findings);
}

// What is worth knowing and changes no verdict. That health was not shown is said once for the host.
void find_notes(const GpuRow& row, bool unified, Findings& findings) {
    for (const auto& trouble : row.troubles)
        if (trouble.trouble == Trouble::none && trouble.code != "health-not-shown")
            findings.add(finding(trouble.code, Severity::note, trouble.text));
    if (is_vgpu_name(row.name))
        findings.add(finding("vgpu-guest", fmt::format("a virtual GPU: {}", row.name)));
    if (unified)
        findings.add(finding("unified-memory", "used memory is not shown: judged by processes only"));
    if (row.repaired) findings.add(finding("row-repaired", "its index was taken out of a row fused to pids"));
}

GpuVerdict describe_gpu(const Slot& slot, std::vector<Holder> holders) {
    GpuVerdict gpu;
    gpu.index = slot.index;
    gpu.uuid = printable(slot.uuid);
    gpu.bus_id = printable(slot.bus_id);
    gpu.holders = std::move(holders);
    if (slot.row == nullptr) return gpu;
    gpu.name = printable(slot.row->name);
    gpu.used = slot.row->used;
    gpu.total = slot.row->total;
    gpu.repaired = slot.row->repaired;
    gpu.optional.reserve(slot.row->optional.size());
    for (const auto& cell : slot.row->optional)
        gpu.optional.push_back({printable(cell.column), printable(cell.cell)});
    return gpu;
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

GpuVerdict judge_gpu(const Slot& slot, std::vector<Holder> holders, const Evidence& evidence,
                     const Expectations& expectations) {
    auto gpu = describe_gpu(slot, std::move(holders));
    const bool sick = is_sick(slot);
    const bool unified = is_unified(slot, evidence, expectations);
    const auto limit = limit_for(slot.uuid, evidence, expectations);
    const bool has_limit = slot.row != nullptr && !unified;
    if (has_limit) gpu.limit = limit.most;
    if (!expectations.parse_only) gpu.instances = instances_of(slot, gpu.holders, evidence);
    {
        Findings findings(gpu.findings);
        if (sick)
            find_sickness(slot, findings);
        else
            find_unknowns(slot, unified, evidence, expectations, findings);
        judge_witnesses(slot, gpu, limit, evidence, expectations, findings);
        if (slot.row != nullptr) find_notes(*slot.row, unified, findings);
        if (has_limit) note_limit(limit, expectations, findings);
    }
    gpu.verdict = Verdict::clean;
    for (const auto& found : gpu.findings) gpu.verdict = worse(gpu.verdict, verdict_of(found.severity));
    if (sick) gpu.verdict = Verdict::sick;
    return gpu;
}

}  // namespace cleanslate::agentless
