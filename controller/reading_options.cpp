// The options of the commands that only read what is there: parse, audit and report.

#include <algorithm>

#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {

void add_parse_options(CLI::App& app, Options& options) {
    const auto expect = [&options](const std::string& text) {
        if (text == "any") {
            options.expect_any = true;
            return;
        }
        const auto count = parse_number(text);
        if (!count || *count > 1024)
            throw CLI::ValidationError("--expect", "wants a number up to 1024, or any");
        options.expect = static_cast<int>(*count);
    };
    app.add_option_function<std::string>(
           "--expect", expect,
           "How many GPUs there are; any: as many as are shown (default: unproven, "
           "so the host is unknown)")
        ->type_name("N|any");
    const auto columns = [&options](const std::string& text) {
        for (std::string_view name : split(text, ',')) options.columns.emplace_back(trim(name));
    };
    app.add_option_function<std::string>(
           "--columns", columns,
           "The query's fields, as they were asked for (default: the header's; else "
           "two are index,memory.used and eight the core query)")
        ->type_name("LIST");
    const auto exit_status = [&options](const std::string& text) {
        const auto status = parse_number(text);
        if (!status || *status > 255)
            throw CLI::ValidationError("--exit-status", "wants a number from 0 to 255");
        options.exit_status = static_cast<int>(*status);
    };
    app.add_option_function<std::string>(
           "--exit-status", exit_status,
           "What nvidia-smi ended with, judged as check does (default: not observed, and not judged)")
        ->type_name("N");
    app.add_option("FILE", options.file, "What nvidia-smi printed, - for stdin (default -)");
}

void add_audit_reading_options(CLI::App& app, Options& options) {
    const std::string group = "Which records";
    add_list(app, "--host", "HOSTS", options.audit_hosts,
             "Names, globs and ranges, as gpu[01-04],rack1-*; repeatable (default: every host)")
        ->group(group);
    add_text(app, "--since", "TIME", options.since,
             "From then on: 2026-11-29, 2026-11-29T12:00:00Z, or so long ago: 2h, 7d (default: all of it)")
        ->group(group);
    add_text(app, "--audit", "FILE", options.audit,
             "The audit log, - for stdin (default: $XDG_STATE_HOME/cleanslate/audit.jsonl, else "
             "~/.local/state/cleanslate/audit.jsonl)")
        ->group(group);
}

void add_report_files(CLI::App& app, Options& options) {
    const auto files = [&options](const std::vector<std::string>& names) {
        if (std::ranges::count(names, "-") > 1)
            throw CLI::ValidationError("FILE", "stdin has one report: give - once");
        options.report_files = names;
    };
    app.add_option_function<std::vector<std::string>>("FILE", files, "Reports of --format json, - for stdin")
        ->required();
}

void add_report_files_options(CLI::App& app, Options& options) {
    const auto action = [&options](const std::string& word) {
        if (word != "show" && word != "merge")
            throw CLI::ValidationError("ACTION", "wants show or merge, not '" + printable(word) + "'");
        options.merge = word == "merge";
    };
    app.add_option_function<std::string>("ACTION", action, "show: one report; merge: those of shards as one")
        ->required()
        ->type_name("show|merge");
    add_report_files(app, options);
    add_duration(app, "--within", options.within,
                 "merge: refuse reports begun further apart (default 12h; 24h where they are no shards)");
    app.add_flag("--raw-commands", options.raw_commands,
                 "Show commands with the secrets that the reports have in them (default: masked)")
        ->group("Report");
}

}  // namespace cleanslate::controller
