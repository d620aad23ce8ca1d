#pragma once
// What happens, as it happens, one JSON object a line.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// The events that a finished report still knows: each host's end, and the sweep's.
void write_events(const Report& report, bool raw_commands, const Sink& sink);

}  // namespace cleanslate::controller
