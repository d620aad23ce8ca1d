#pragma once
// Which GPUs of a host that was just checked show their idle memory, so that a baseline may record it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agentless/baseline.hpp"
#include "agentless/outcome.hpp"

namespace cleanslate::agentless {

// Above it, memory that nobody seems to hold is a leak and not idle memory: a context without any data takes
// 518 MiB on an H200, and one whose process is not seen must not be recorded as idle.
inline constexpr Mebibytes most_idle{500};

struct LeftOut {
    std::optional<int> index;  // absent: not known, or the whole host
    std::string why;           // printable, one line
    std::string remedy;        // may be empty
};

struct Recording {
    std::vector<std::pair<std::string, BaselineGpu>> gpus;  // uuid first; by index
    std::vector<LeftOut> left_out;
    bool whole_host = false;  // nothing of it could be recorded: the one entry of left_out says why
};

// Recorded is what a GPU shows beyond its protected holders' memory, since that is what a verdict holds
// against the limit, and only where nobody unprotected is, or may be, the cause of it. Left out is what is
// sick, unknown, held, above `most`, or not to be told apart; and the whole host where it was not surveyed to
// its end, or where something was found that no GPU can be blamed for (an opener, a count that is wrong).
Recording record_idle(const HostOutcome& host, Mebibytes most);

}  // namespace cleanslate::agentless
