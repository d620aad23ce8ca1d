#pragma once
// What tests of verdicts say again and again.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "agentless/nvidia_smi.hpp"
#include "agentless/verdict.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless::testing {

inline const Finding* find(const std::vector<Finding>& findings, std::string_view code) {
    for (const auto& finding : findings)
        if (finding.code == code) return &finding;
    return nullptr;
}

inline HostVerdict judge(Scene& scene) { return agentless::judge(scene.evidence(), {}); }

// "count-mismatch:unknown no-gpus:unknown"
inline std::string codes(const std::vector<Finding>& findings) {
    std::string line;
    for (const auto& finding : findings)
        line += fmt::format("{}{}:{}", line.empty() ? "" : " ", finding.code, to_string(finding.severity));
    return line;
}

inline DriverMessage said(std::string_view line) { return classify_line(line); }

// Row `i` of the scene, as the driver prints it for a GPU that it cannot get at.
inline void fail_row(Scene& scene, std::size_t i, const char* cell = "[Unknown Error]") {
    GpuRow row;
    row.cells.assign(8, cell);
    scene.evidence().gpus[i] = row;
}

}  // namespace cleanslate::agentless::testing
