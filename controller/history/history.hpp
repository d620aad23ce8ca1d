#pragma once
// The fleet's memory: every sweep in one SQLite file.

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "controller/options.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// $XDG_STATE_HOME/cleanslate/history.db, else ~/.local/state/cleanslate/history.db; empty: neither is known.
std::string default_history_file(const Environment& environment);

// What sweeps have in common that can be compared with each other: the same inventory (its path made
// absolute, links resolved; "-H" and the targets, "--local" and the machine's name) and the same limit.
struct SweepScope {
    std::string inventory;
    std::string limit;  // "all" where none was given
};
SweepScope scope_of(const Options& options);

}  // namespace cleanslate::controller
