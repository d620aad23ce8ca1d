// The options of `history` and of what it can be asked for.

#include <limits>

#include "controller/help_texts.hpp"
#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {
namespace {

int number_from_1(const std::string& text, const std::string& option) {
    const auto number = parse_number(text);
    if (!number || *number == 0 || *number > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
        throw CLI::ValidationError(option, "wants a number from 1 on");
    return static_cast<int>(*number);
}

void add_file_option(CLI::App& app, Options& options) {
    add_text(app, "--history", "FILE", options.history,
             "The history (default: $XDG_STATE_HOME/cleanslate/history.db, else "
             "~/.local/state/cleanslate/history.db)");
}

void add_since_option(CLI::App& app, Options& options, const std::string& default_text) {
    add_text(app, "--since", "TIME", options.since,
             "Sweeps from then on: 2026-11-29, 2026-11-29T12:00:00Z, or so long ago: 2h, 7d (default: " +
                 default_text + ")");
}

void add_last_option(CLI::App& app, Options& options, const std::string& help) {
    const auto read = [&options](const std::string& text, const std::string& option) {
        options.last = number_from_1(text, option);
    };
    add_read(app, "--last", "N", read, help);
}

CLI::App& add_action(CLI::App& app, Options& options, HistoryAction action) {
    CLI::App* sub = app.add_subcommand(std::string(to_string(action)), std::string(description_of(action)));
    sub->group("Actions");
    sub->footer(std::string(footer_of(action)));
    sub->parse_complete_callback([&options, action] { options.history_action = action; });
    add_file_option(*sub, options);
    return *sub;
}

void add_list_options(CLI::App& app, Options& options) {
    add_file_option(app, options);
    add_last_option(app, options, "So many of the newest sweeps (default 20, or all with --since or --host)");
    add_since_option(app, options, "all");
    add_list(app, "-i,--inventory", "FILE", options.inventories,
             "Sweeps of this inventory alone; repeatable, as the sweep had them (default: of all)");
    add_list(app, "--host", "HOSTS", options.history_hosts,
             "Instead of sweeps, the course of these hosts: names, globs and ranges; repeatable (default: "
             "none)");
    add_report_options(app, options);
}

void add_prune_options(CLI::App& app, Options& options) {
    add_duration(app, "--keep", options.keep,
                 "Sweeps that are no older stay (default: those of --keep-last)");
    const auto read = [&options](const std::string& text, const std::string& option) {
        options.keep_last = number_from_1(text, option);
    };
    add_read(app, "--keep-last", "N", read,
             "So many of the newest sweeps of each inventory and limit stay, however old (default: none)");
    app.add_flag("--dry-run", options.dry_run, "Say what would go, and leave it (default: it goes)");
    add_report_options(app, options);
}

}  // namespace

void add_history_command_options(CLI::App& app, Options& options) {
    add_list_options(app, options);
    app.require_subcommand(0, 1);

    CLI::App& show = add_action(app, options, HistoryAction::show);
    show.add_option("ID", options.sweeps, "The sweep's number, or last (required, no default)")
        ->required()
        ->expected(1);
    show.add_flag("--raw-commands", options.raw_commands,
                  "Of a sweep with --raw-commands, show the secrets in command lines too (default: masked)");
    add_formats_options(show, options);
    add_host_lists_options(show, options);

    CLI::App& diff = add_action(app, options, HistoryAction::diff);
    diff.add_option("ID", options.sweeps,
                    "One sweep, compared with the one before it of the same inventory and limit; or two "
                    "(default: last)")
        ->expected(0, 2);
    add_report_options(diff, options);

    CLI::App& top = add_action(app, options, HistoryAction::top);
    add_since_option(top, options, "30d");
    add_last_option(top, options, "So many users, commands and hosts (default 10)");
    add_report_options(top, options);

    add_prune_options(add_action(app, options, HistoryAction::prune), options);
}

}  // namespace cleanslate::controller
