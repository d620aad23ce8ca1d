#include "agentless/limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<bool> is_before_510(std::string_view driver_version) {
    const auto parts = split(driver_version, '.');
    if (!std::ranges::all_of(parts, [](std::string_view part) { return is_digits(part); }))
        return std::nullopt;
    // A shorter one ("58", "5.80") may be the beginning of another.
    if (parts.size() < 2 || parts[0].size() != 3 || parts[0].front() == '0' || parts[1].size() < 2)
        return std::nullopt;
    return parse_number(parts[0]).value_or(510) < 510;
}

Limit limit_for(const std::string& uuid, const Evidence& evidence, const Expectations& expectations) {
    using enum Limit::Source;
    if (expectations.max_used) return {*expectations.max_used, set};
    if (expectations.baseline) {
        const auto& baseline = *expectations.baseline;
        if (const auto gpu = baseline.gpus.find(uuid); gpu != baseline.gpus.end())
            return {gpu->second.used + baseline.margin, Limit::Source::baseline};
    }
    if (is_before_510(evidence.driver_version).value_or(false)) return {default_limit_before_510, before_510};
    return {default_limit, usual};
}

void note_limit(const Limit& limit, const Expectations& expectations, Findings& findings) {
    if (limit.source == Limit::Source::before_510)
        findings.add(finding("reserved-counted-in",
                             fmt::format("this driver counts reserved memory as used: the limit is {} MiB",
                                         limit.most.count)));
    const bool asked = expectations.baseline && !expectations.max_used;
    if (asked && limit.source != Limit::Source::baseline)
        findings.add(finding("not-in-baseline",
                             fmt::format("not in the baseline: the limit is {} MiB", limit.most.count)));
}

void note_other_driver(const std::vector<Slot>& slots, const Evidence& evidence,
                       const Expectations& expectations, Findings& findings) {
    if (!expectations.baseline || expectations.max_used || evidence.driver_version.empty()) return;
    std::set<std::string> others;
    for (const auto& slot : slots) {
        const auto gpu = expectations.baseline->gpus.find(slot.uuid);
        if (gpu == expectations.baseline->gpus.end() || gpu->second.driver.empty()) continue;
        if (gpu->second.driver != evidence.driver_version) others.insert(gpu->second.driver);
    }
    if (!others.empty())
        findings.add(finding("baseline-other-driver",
                             fmt::format("the baseline was recorded with driver {}, this is {}",
                                         fmt::join(others, ", "), evidence.driver_version)));
}

}  // namespace cleanslate::agentless
