#include "agentless/carry.hpp"

#include <algorithm>

#include "agentless/nvidia_smi_optional.hpp"

namespace cleanslate::agentless {
namespace {

bool was_asked(const ToolResult& tool) {
    return !tool.skipped && (tool.exit_status.has_value() || tool.timed_out || tool.missing);
}

// What it printed is all that there is to print.
bool has_answered(const ToolResult& tool) { return was_asked(tool) && tool.exit_status && !tool.timed_out; }

bool same_gpu(const GpuRow& a, const GpuRow& b) {
    if (!a.uuid.empty() && !b.uuid.empty()) return a.uuid == b.uuid;
    if (!a.bus_id.empty() && !b.bus_id.empty()) return a.bus_id == b.bus_id;
    return a.index.has_value() && a.index == b.index;
}

// The row of the same GPU, with optional cells in it.
const GpuRow* find_optional(const Evidence& evidence, const GpuRow& row) {
    for (const GpuRow& other : evidence.gpus)
        if (!other.optional.empty() && same_gpu(row, other)) return &other;
    return nullptr;
}

void add_to(std::vector<std::string>& lines, const std::vector<std::string>& more) {
    for (const std::string& line : more)
        if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
}

// A query that was asked and did not come to its end leaves standing what was said before.
void take_answers(Evidence& now, const Evidence& earlier) {
    if (!has_answered(now.optional_query)) add_to(now.optional_problems, earlier.optional_problems);
    if (!has_answered(now.list_query)) add_to(now.list_problems, earlier.list_problems);
    if (!was_asked(now.optional_query) && was_asked(earlier.optional_query)) {
        now.optional_query = earlier.optional_query;
        now.optional_fields = earlier.optional_fields;
        now.unknown_fields = earlier.unknown_fields;
    }
    if (!was_asked(now.list_query) && was_asked(earlier.list_query)) now.list_query = earlier.list_query;
    if (!now.listed) now.listed = earlier.listed;
}

}  // namespace

void carry_optional(Evidence& now, const Evidence& earlier) {
    for (GpuRow& row : now.gpus) {
        if (!row.optional.empty()) continue;
        const GpuRow* before = find_optional(earlier, row);
        if (before == nullptr) continue;
        row.optional = before->optional;
        judge_optional_columns(row);
    }
    take_answers(now, earlier);
}

Evidence optional_part(const Evidence& now, const Evidence& earlier) {
    Evidence part;
    const auto add = [&](const GpuRow& row) {
        GpuRow& kept = part.gpus.emplace_back();
        kept.index = row.index;
        kept.uuid = row.uuid;
        kept.bus_id = row.bus_id;
        kept.optional = row.optional;
    };
    for (const GpuRow& row : now.gpus)
        if (!row.optional.empty()) add(row);
    for (const GpuRow& row : earlier.gpus)
        if (!row.optional.empty() && find_optional(part, row) == nullptr) add(row);
    take_answers(part, now);
    return part;
}

}  // namespace cleanslate::agentless
