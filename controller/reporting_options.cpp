// The options that say what is told, in which form and where.

#include <algorithm>
#include <limits>

#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {
namespace {

// A list of requests, one a use of the option.
template <class Request>
void add_requests(CLI::App& app, const std::string& name, const std::string& type, std::vector<Request>& slot,
                  Result<Request> (*read)(std::string_view), const std::string& help) {
    const auto each = [&slot, read, name](const std::vector<std::string>& texts) {
        slot.clear();
        for (const std::string& text : texts) {
            auto request = read(text);
            if (!request) refuse(name, request.error());
            slot.push_back(std::move(*request));
        }
    };
    app.add_option_function<std::vector<std::string>>(name, each, help)
        ->type_name(type)
        ->allow_extra_args(false)
        ->group("Report");
}

}  // namespace

void add_color_option(CLI::App& app, Options& options) {
    add_choice<ColorMode>(
        app, "--color", options.color,
        {{"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}},
        "Colour in text (default auto: on a terminal, unless $NO_COLOR is set)")
        ->group("Report");
}

void add_verbosity_option(CLI::App& app, Options& options) {
    app.add_flag("-v,--verbose", options.verbosity,
                 "A line on stderr for each host that ends; -vv: details too")
        ->group("Report");
}

void add_report_options(CLI::App& app, Options& options) {
    add_choice<Format>(app, "--format", options.format, {{"text", Format::text}, {"json", Format::json}},
                       "Form of the report on stdout (default text)")
        ->group("Report");
    add_color_option(app, options);
}

void add_formats_options(CLI::App& app, Options& options) {
    add_requests<FormatRequest>(
        app, "--format", "FORM[=FILE]", options.formats, read_format_request,
        "text, json, jsonl (events as they happen), csv (a row a GPU), junit, prom (node_exporter's "
        "textfile) "
        "or html, on stdout or into FILE; repeatable, one of them on stdout (default text)");
    app.add_flag("-q,--quiet", options.quiet, "Of the text no more than the last line, and no progress")
        ->group("Report");
    add_color_option(app, options);
}

void add_host_lists_options(CLI::App& app, Options& options) {
    add_requests<ListRequest>(
        app, "--clean-hosts", "[FORM=]FILE", options.clean_hosts, read_list_request,
        "Write the names of the clean hosts, in place at once; emptied at the start, so it never lists what "
        "was not proven. FORM: plain (one a line), folded, slurm (for --nodelist), mpi (hostfile, slots are "
        "clean GPUs), ansible (for --limit @FILE); FILE -: stdout, and no text there; repeatable (default: "
        "none)");
    add_requests<ListRequest>(app, "--not-clean-hosts", "[FORM=]FILE", options.not_clean_hosts,
                              read_list_request, "The same of all others (default: none)");
    const auto read = [&options](const std::string& text, const std::string& option) {
        const auto number = parse_number(text);
        if (!number || *number == 0 || *number > std::numeric_limits<int>::max())
            throw CLI::ValidationError(option, "wants a number of hosts from 1 on");
        options.expect_hosts = static_cast<int>(*number);
    };
    add_read(
        app, "--expect-hosts", "N", read,
        "Exit status 0 if at least N hosts are clean, whatever the rest is, and 1 if fewer are (default: "
        "all must be)")
        ->group("Report");
}

void add_audit_option(CLI::App& app, Options& options) {
    add_text(app, "--audit", "FILE", options.audit,
             "Audit log: each signal and command, before it is sent and after (default: "
             "$XDG_STATE_HOME/cleanslate/audit.jsonl, else ~/.local/state/cleanslate/audit.jsonl)")
        ->group("Report");
}

void add_history_options(CLI::App& app, Options& options) {
    CLI::Option* const file =
        add_text(app, "--history", "FILE", options.history,
                 "Add this sweep to a history (default: $XDG_STATE_HOME/cleanslate/history.db, else "
                 "~/.local/state/cleanslate/history.db)");
    file->group("Report");
    app.add_flag("--no-history", options.no_history, "Keep this sweep out of any history")
        ->excludes(file)
        ->group("Report");
}

}  // namespace cleanslate::controller
