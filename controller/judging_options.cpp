// The options that say how hosts are judged, and what a baseline takes from them.

#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {

void add_max_used_option(CLI::App& app, Options& options) {
    add_size(app, "--max-used", options.max_used,
             std::string("A GPU above it is dirty; ") +
                 (options.command == Command::parse
                      ? "wins over the baseline (default: the baseline's, "
                      : "wins over inventory and baseline (default: the inventory's, else the baseline's, ") +
                 "else 100MiB; 400MiB for drivers before 510)")
        ->group("Judging");
}

void add_baseline_options(CLI::App& app, Options& options) {
    add_text(app, "--baseline", "FILE", options.baseline,
             "Judge each GPU by its idle memory as `cleanslate baseline` has recorded it (default: none)")
        ->group("Judging");
    add_size(app, "--baseline-margin", options.baseline_margin,
             "So much above the recorded memory is still clean (default 50MiB)")
        ->group("Judging");
}

void add_protection_options(CLI::App& app, Options& options) {
    app.option_defaults()->group("Judging");
    app.add_flag(
        "--require-holders", options.require_holders,
        "Unknown, not clean, where the login may not see other users' processes (default: clean with the "
        "note holders-not-visible)");
    add_list(app, "--protect", "EXE", options.protect,
             "Never signal it: an executable's name, a script's name, or a unit; repeatable; added to the "
             "built-in list, the inventory's and the playbook's (default: none)");
    add_list(app, "--unprotect", "EXE", options.unprotect,
             "Take an entry off the protected list; repeatable (default: none)");
    app.add_flag("--raw-commands", options.raw_commands,
                 "Show and store command lines with the secrets in them (default: masked)");
    app.option_defaults()->group("Options");
}

void add_judging_options(CLI::App& app, Options& options) {
    add_max_used_option(app, options);
    add_baseline_options(app, options);
    add_protection_options(app, options);
}

void add_recording_options(CLI::App& app, Options& options) {
    const std::string group = "Recording";
    add_text(
        app, "-o,--output", "FILE", options.output,
        "Where the baseline is written, in one step at the end; a file that is no baseline is left alone "
        "(no default: it must be told)")
        ->group(group);
    add_size(app, "--max-used", options.most_idle,
             "A GPU that shows more is left out: that is a leak and no idle memory (default 500MiB)")
        ->group(group);
}

}  // namespace cleanslate::controller
