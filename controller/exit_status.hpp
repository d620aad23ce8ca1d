#pragma once
// The exit status as a pure function. docs/exit-codes.md is the user's side.

#include <string>
#include <string_view>

#include "controller/report.hpp"

namespace cleanslate::controller {

inline constexpr int exit_usage = 2;     // nothing was contacted
inline constexpr int exit_internal = 5;  // a report or audit could not be written, or an internal error

// What happened around the hosts.
struct Ending {
    int stop_signal = 0;        // SIGINT, SIGTERM or SIGHUP that came; 0: none
    bool write_failed = false;  // the report, the list of clean hosts or the audit log
};

// Where the report says how many clean hosts are expected, whether there are as many decides in place of the
// worst host and of what stopped the sweep, an interruption aside.
int exit_status(const Report& report, const Ending& ending);

// What the status means, for the report's last line. `is_run`: of an ad-hoc command.
std::string_view meaning_of(int exit_status, bool is_run = false);
// The same of a report, which says where only some GPUs were judged, or so many clean hosts are enough.
std::string meaning_of(const Report& report);

}  // namespace cleanslate::controller
