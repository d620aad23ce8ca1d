#pragma once
// One self-contained page: a map of the fleet, and each host in detail.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

void write_html(const Report& report, bool raw_commands, const Sink& sink);

}  // namespace cleanslate::controller
