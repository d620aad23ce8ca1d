#pragma once
// One test case a host, for CI systems.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

void write_junit(const Report& report, bool raw_commands, const Sink& sink);

}  // namespace cleanslate::controller
