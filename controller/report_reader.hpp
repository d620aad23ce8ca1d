#pragma once
// A report of `--format json` read back: for `report`, and for what the history keeps.

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Every form of what is read equals that of the report that was written. `where` names it in errors (kind
// "report"): no JSON, another schema, a member that is missing or of the wrong type, with its place. Of a
// newer minor writer, members that are not known are ignored. Nothing of it is trusted: texts are made
// printable again, depth and size are bounded.
Result<Report> read_report(std::string_view json, const std::string& where);

}  // namespace cleanslate::controller
