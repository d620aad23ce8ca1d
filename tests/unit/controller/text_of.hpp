#pragma once
// The text report of hand-made outcomes.

#include "controller/text_report.hpp"
#include "outcomes.hpp"

namespace cleanslate::controller::testing {

inline std::string written(const Report& report, TextOptions options = {}) {
    std::string text;
    write_text(report, options, [&](std::string_view piece) { text += piece; });
    return text;
}

inline std::string of(std::vector<HostOutcome> hosts, std::string command = "check") {
    return written(report_of(std::move(hosts), std::move(command)));
}

}  // namespace cleanslate::controller::testing
