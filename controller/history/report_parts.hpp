#pragma once
// A sweep's whole JSON report in the history, in parts: the head, then some hosts each. Nights are much
// alike, so a part is packed against a base that those before it had in common. Private to the history.

#include <optional>

#include "controller/history/store.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller::history {

// Of one part, unpacked: no file makes more of it.
inline constexpr std::size_t most_bytes_of_part = 128 * 1024 * 1024;

// Within a transaction. `before`: the sweep whose bases may do; absent: none. Errors are the database's, or
// of kind "history".
Status store_report(Database& database, SweepId sweep, std::optional<SweepId> before, const Report& report,
                    bool raw_commands);

// Every form of it equals that of the report that was recorded.
Result<Report> load_report(Store& store, SweepId sweep);

}  // namespace cleanslate::controller::history
