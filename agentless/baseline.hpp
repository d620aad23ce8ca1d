#pragma once
// Idle memory by GPU, recorded on a fleet that was known to be clean: what a GPU shows when nobody holds it.

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cleanslate::agentless {

struct BaselineGpu {
    std::string host;  // where it was seen
    int index = 0;
    Mebibytes used;
    std::string driver;  // version; empty: not known
};

struct Baseline {
    std::map<std::string, BaselineGpu> gpus;  // by uuid
    // Added to the recorded memory: an idle GPU varies by some MiB, the smallest CUDA context seen costs 146.
    Mebibytes margin{50};
};

// A file as `cleanslate baseline` writes it (docs/baseline.md). `name` stands in messages. Errors (kind
// "baseline") begin with file:line:column where there is a place; unknown keys, a uuid twice and numbers out
// of range are errors.
Result<Baseline> parse_baseline(std::string_view yaml, std::string_view name);

// What parse_baseline reads, sorted by host and index. `comment` goes to the top, one line.
std::string write_baseline(const Baseline& baseline, std::string_view comment);

}  // namespace cleanslate::agentless
