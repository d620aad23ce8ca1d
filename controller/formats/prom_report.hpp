#pragma once
// Metrics for node_exporter's textfile collector.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

void write_prom(const Report& report, const Sink& sink);

}  // namespace cleanslate::controller
