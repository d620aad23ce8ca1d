#pragma once
// `cleanslate parse`: judges what an nvidia-smi GPU query printed, with nothing else to go by.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/nvidia_smi.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

struct ParseOptions {
    std::vector<std::string> columns;  // --columns; used where the text has no header
    std::optional<int> expect;         // --expect N; 0 or more
    bool any = false;                  // --expect any
    std::optional<Mebibytes> max_used;  // --max-used
};

// Rows and messages; everything else stays unobserved. For judge() with Expectations::parse_only.
Evidence evidence_from_table(const GpuTable& table);

// Never fails: what cannot be read is unknown.
HostVerdict judge_output(std::string_view text, const ParseOptions& options);

}  // namespace cleanslate::agentless
