#pragma once
// JSON reports in files, read back.

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// One report, or with `merge` those of shards as one, as merge_reports() takes them; -: stdin. `files` is not
// empty. Errors have the kinds of read_report() and merge_reports(), or "usage".
Result<Report> read_reports(const std::vector<std::string>& files, bool merge,
                            std::optional<Milliseconds> within = {});

}  // namespace cleanslate::controller
