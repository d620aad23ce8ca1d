#pragma once
// Metrics for node_exporter's textfile collector: docs/formats.md.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Prometheus' text format, metric by metric. No sample of what was not observed, and no two of one name and
// labels, whatever the report: GPUs of one host that share index and uuid are numbered, as are hosts that
// share a name.
void write_prom(const Report& report, const Sink& sink);

}  // namespace cleanslate::controller
