#pragma once
// The report for programs: schema cleanslate.report/1, docs/report-format.md.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Written host by host: the whole document is never in memory.
void write_json(const Report& report, bool raw_commands, const Sink& sink);

}  // namespace cleanslate::controller
