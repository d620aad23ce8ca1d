#pragma once
// The report for programs: schema cleanslate.report/1, docs/report-format.md.

#include <string>

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Written host by host: the whole document is never in memory.
void write_json(const Report& report, bool raw_commands, const Sink& sink);

// The same pieces alone, each on one line without its end: one of `hosts`, and `summary`.
std::string json_of_host(const Report& report, const agentless::HostOutcome& host, bool raw_commands);
std::string json_of_summary(const Report& report);

}  // namespace cleanslate::controller
