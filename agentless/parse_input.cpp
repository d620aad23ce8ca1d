#include "agentless/parse_input.hpp"

#include <utility>

#include "agentless/nvidia_smi_cells.hpp"

namespace cleanslate::agentless {
namespace {

TableOptions table_options(const ParseOptions& options) {
    TableOptions table;
    table.columns = options.columns;
    table.repair_fused = true;
    if (!options.any) table.expected = options.expect;
    return table;
}

Expectations expectations_of(const ParseOptions& options) {
    Expectations expectations;
    if (!options.any) expectations.gpus = options.expect;
    expectations.any_count = options.any;
    expectations.max_used = options.max_used;
    expectations.baseline = options.baseline;
    expectations.parse_only = true;
    return expectations;
}

// One driver has all of a host's GPUs: rows that show two versions are not of one host, or not read aright.
std::string common_version(const std::vector<GpuRow>& rows) {
    std::string version;
    for (const auto& row : rows)
        for (const auto& [column, cell] : row.optional) {
            if (column != "driver_version" || read_cell(cell).kind != CellKind::plain) continue;
            if (!version.empty() && version != cell) return {};
            version = cell;
        }
    return version;
}

}  // namespace

Evidence evidence_from_table(GpuTable table) {
    Evidence evidence;
    evidence.complete = true;
    evidence.gpus = std::move(table.rows);
    evidence.messages = std::move(table.messages);
    evidence.driver_version = common_version(evidence.gpus);
    return evidence;
}

OutputJudge::OutputJudge(ParseOptions options)
    : options_(std::move(options)), reader_(table_options(options_)) {}

HostVerdict OutputJudge::finish() {
    const auto expectations = expectations_of(options_);
    auto evidence = evidence_from_table(reader_.finish());
    evidence.gpu_query.exit_status = options_.exit_status;
    return judge(evidence, expectations);
}

HostVerdict judge_output(std::string_view text, const ParseOptions& options) {
    OutputJudge judge(options);
    judge.feed(text);
    return judge.finish();
}

}  // namespace cleanslate::agentless
