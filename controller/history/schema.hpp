#pragma once
// The tables, and how an older file gets them. Private to the history.

#include <cstdint>
#include <span>

#include "controller/history/database.hpp"

namespace cleanslate::controller::history {

// Marks the file as one of ours (PRAGMA application_id).
inline constexpr std::int64_t application_id = 0x436C5368;  // "ClSh"

// SQL that makes version N + 1 of version N, which is the step's place; 0 is an empty database.
using Step = const char*;
std::span<const Step> steps();
inline std::int64_t newest_version() { return static_cast<std::int64_t>(steps().size()); }

// The version of a file that is ours, 0 where it is empty. Errors: another program's database, and a version
// that is newer than the steps lead to.
Result<std::int64_t> own_version(Database& database, std::span<const Step> steps);

// Errors as above, with nothing written. Each step is one transaction: an error, or a kill, leaves the
// version before, whole.
Status migrate(Database& database, std::span<const Step> steps);

}  // namespace cleanslate::controller::history
