#pragma once
// Expected against seen: the inventory's count, PCI, the kernel's driver, the rows and `nvidia-smi -L`. A GPU
// that one of them knows and another does not is a GPU that nothing was proven about.

#include <optional>
#include <string_view>

#include "agentless/evidence.hpp"
#include "agentless/findings.hpp"
#include "agentless/placement.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

struct Expected {
    std::optional<int> count;  // absent: nothing says it, or any will do
    std::string_view source;   // "asked for", "known to the kernel's driver", ...
};
Expected expected_count(const Evidence& evidence, const Expectations& expectations);

// The number of rows against the expected one.
void judge_count(const Evidence& evidence, const Expectations& expectations, const Expected& expected,
                 const Placement& placement, Findings& findings);

// GPU by GPU, by bus id and uuid. What was not asked, or gave no answer, is not compared. A GPU that the
// driver calls sick may be missing anywhere: it is accounted for.
void judge_sources(const Evidence& evidence, const Expectations& expectations, const Placement& placement,
                   Findings& findings);

// Whether PCI shows a GPU of this host's own: one that is not given to a virtual machine.
bool pci_shows_gpus(const Evidence& evidence);

}  // namespace cleanslate::agentless
