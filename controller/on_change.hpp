#pragma once
// --on-change: a command of the user's is told what differs from the sweep before. docs/nightly.md.

#include <string>

#include "base/result.hpp"
#include "controller/history/diff.hpp"
#include "controller/options.hpp"

namespace cleanslate::controller {

// A host is newly dirty or sick, newly clean, or newly unknown or unreachable. Of the first sweep of its
// scope, which nothing went before: whatever is not clean.
bool is_worth_telling(const history::Diff& diff);

// What the command finds in its environment, over and above ours: CLEANSLATE_STATUS, CLEANSLATE_NEWLY_DIRTY,
// CLEANSLATE_NEWLY_CLEAN, CLEANSLATE_NEWLY_UNKNOWN, CLEANSLATE_HISTORY, CLEANSLATE_SWEEP,
// CLEANSLATE_PREVIOUS_SWEEP (empty: none), CLEANSLATE_PROGRAM (this one). Numbers and paths, nothing that a
// host says of itself.
Environment change_environment(const history::Diff& diff, const std::string& history_file,
                               const std::string& program, int exit_status);

// Compares the sweep, which is recorded, with the one before, and runs the command where that is worth
// telling; its output goes to stderr. Once `stop_fd` is readable, the command is ended. Errors: the history
// cannot be read; the command did not succeed (kind "command").
Status tell_change(const Options& options, const Environment& environment, history::Store& store,
                   history::SweepId sweep, int exit_status, int stop_fd);

}  // namespace cleanslate::controller
