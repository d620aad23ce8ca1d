#include "agentless/parse_input.hpp"

namespace cleanslate::agentless {

Evidence evidence_from_table(const GpuTable& table) {
    Evidence evidence;
    evidence.complete = true;
    evidence.gpus = table.rows;
    evidence.messages = table.messages;
    return evidence;
}

HostVerdict judge_output(std::string_view text, const ParseOptions& options) {
    TableOptions table;
    table.columns = options.columns;
    table.repair_fused = true;
    if (!options.any) table.expected = options.expect;
    Expectations expectations;
    if (!options.any) expectations.gpus = options.expect;
    expectations.any_count = options.any;
    expectations.max_used = options.max_used;
    expectations.parse_only = true;
    return judge(evidence_from_table(read_gpu_table(text, table)), expectations);
}

}  // namespace cleanslate::agentless
