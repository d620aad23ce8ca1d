#pragma once
// Up to which used memory a GPU counts as clean.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/findings.hpp"
#include "agentless/placement.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

inline constexpr Mebibytes default_limit{100};
// Drivers before 510 count the reserved part in: 103 to 308 MiB on idle GPUs.
inline constexpr Mebibytes default_limit_before_510{400};

// Whether the version ("470.57.02") is one before 510; absent for what is no whole version: a branch of three
// digits, a point, two digits or more, and further numbers behind points.
std::optional<bool> is_before_510(std::string_view driver_version);

struct Limit {
    Mebibytes most;
    enum class Source { set, baseline, usual, before_510 } source = Source::usual;
};

// First that applies: what was set (--max-used, inventory, a playbook's verify step), the baseline's entry of
// the GPU's uuid plus the margin, the default for the driver.
Limit limit_for(const std::string& uuid, const Evidence& evidence, const Expectations& expectations);

// Notes at a GPU: that its limit is the higher one of an old driver, or that the baseline does not have it.
void note_limit(const Limit& limit, const Expectations& expectations, Findings& findings);

// A note at the host: the baseline's entries in use were recorded with another driver.
void note_other_driver(const std::vector<Slot>& slots, const Evidence& evidence,
                       const Expectations& expectations, Findings& findings);

}  // namespace cleanslate::agentless
