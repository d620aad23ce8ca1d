#pragma once
// `cleanslate parse`: judges what an nvidia-smi GPU query printed, with nothing else to go by.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/nvidia_smi.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

struct ParseOptions {
    std::vector<std::string> columns;   // --columns; used where the text has no header
    std::optional<int> expect;          // --expect N; 0 or more
    bool any = false;                   // --expect any
    std::optional<int> exit_status;     // --exit-status: what nvidia-smi ended with; absent: not observed
    std::optional<Mebibytes> max_used;  // --max-used
    std::shared_ptr<const Baseline> baseline;  // --baseline
};

// Rows, messages, and the driver's version where the rows show one; everything else stays unobserved. For
// judge() with Expectations::parse_only.
Evidence evidence_from_table(GpuTable table);

// Judges an output that comes in pieces, cut anywhere, in bounded memory. Never fails: what cannot be read is
// unknown.
class OutputJudge {
  public:
    explicit OutputJudge(ParseOptions options);
    void feed(std::string_view piece) { reader_.feed(piece); }
    HostVerdict finish();  // once, after the last piece
    std::size_t held() const { return reader_.held(); }

  private:
    ParseOptions options_;
    GpuTableReader reader_;
};

HostVerdict judge_output(std::string_view text, const ParseOptions& options);

}  // namespace cleanslate::agentless
