#pragma once
// Reports of shards as one.

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "controller/missing_shards.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// The hosts in the order of the reports; begun with the first, ended with the last. Whatever stopped one
// stopped it all. The hosts of a shard whose report is missing come last, as unknown. Refused (kind "usage",
// with the files' names): a host that stands twice, several commands, dry runs beside real ones, shards that
// do not go together, and reports begun further apart than `within`: without it than 12 hours, and 24 where
// they are no shards. `reports` is not empty. The exit status is not of the whole yet.
Result<Report> merge_reports(std::vector<NamedReport> reports, std::optional<Milliseconds> within = {});

// What the report's hosts come to, as of a sweep that has just ended so. Of what only the writer knew there
// stays that it was interrupted by another signal, and that something could not be written.
int exit_status_of_read(const Report& report);

}  // namespace cleanslate::controller
