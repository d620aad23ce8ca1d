#pragma once
// A report of `--format json` read back: for `report`, and for what the history keeps.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Some 100,000 hosts of 8 GPUs.
inline constexpr std::size_t most_report_bytes = std::size_t{256} << 20;

// Every form of what is read equals that of the report that was written, where its reader had not just seen
// the plan (Report::plan_shown). `where` names it in errors (kind "report"): no JSON, another schema, a
// member that is missing or of the wrong type, a host that stands twice, each with its place. Of a newer
// minor writer, members that are not known are ignored; an older one need not have what was added since.
// Nothing of it is trusted: texts are made printable again, depth and size are bounded.
Result<Report> read_report(std::string_view json, const std::string& where);

}  // namespace cleanslate::controller
