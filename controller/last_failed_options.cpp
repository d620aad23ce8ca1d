// The options that repeat a sweep for those who were not clean.

#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {

void add_last_failed_options(CLI::App& app, Options& options) {
    app.add_flag("--last-failed", options.last_failed,
                 "Of the hosts that -l selects (here -l may be left out), those that were not clean in the "
                 "newest sweep of this inventory in the history, whatever its limit (default: all)")
        ->group("Hosts");
    if (options.command != Command::hosts && options.command != Command::run) return;
    add_text(app, "--history", "FILE", options.history,
             "The history that --last-failed reads (default: $XDG_STATE_HOME/cleanslate/history.db, else "
             "~/.local/state/cleanslate/history.db)")
        ->group("Hosts");
}

}  // namespace cleanslate::controller
