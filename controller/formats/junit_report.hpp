#pragma once
// One test case a host, for CI systems: docs/formats.md.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// XML 1.0 whatever the texts of the hosts: one test suite, its cases in the order of the report.
void write_junit(const Report& report, bool raw_commands, const Sink& sink);

}  // namespace cleanslate::controller
