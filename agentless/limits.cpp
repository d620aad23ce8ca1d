#include "agentless/limits.hpp"

#include "base/text.hpp"

namespace cleanslate::agentless {

std::optional<bool> is_before_510(std::string_view driver_version) {
    const auto branch = parse_number(driver_version.substr(0, driver_version.find('.')));
    if (!branch || *branch == 0) return std::nullopt;
    return *branch < 510;
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

}  // namespace cleanslate::agentless
