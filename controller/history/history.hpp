#pragma once
// The fleet's memory: every sweep in one SQLite file. docs/history.md.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "controller/history/store.hpp"
#include "controller/options.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// $XDG_STATE_HOME/cleanslate/history.db, else ~/.local/state/cleanslate/history.db; empty: neither is known.
std::string default_history_file(const Environment& environment);

// What sweeps have in common that can be compared with each other: the same inventory (its path made
// absolute, links resolved; "-": stdin; "-H"; "--local") and the same hosts of it.
struct SweepScope {
    std::string inventory;
    std::string limit;  // "all" where none was given; of -H the targets, of --local the machine's name
    friend bool operator==(const SweepScope&, const SweepScope&) = default;
};
SweepScope scope_of(const Options& options);

namespace history {

// Adds a finished sweep, whole or not at all; its id, which no other sweep ever had. `raw_commands` as in
// write_json(): of the report; in the tables secrets are masked in any case.
Result<SweepId> record(Store& store, const Report& report, const SweepScope& scope, bool raw_commands);

}  // namespace history
}  // namespace cleanslate::controller
