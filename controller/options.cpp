#include "controller/options.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>

#include "agentless/versions.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "controller/help_texts.hpp"
#include "controller/option_groups.hpp"
#include "controller/page.hpp"

extern char** environ;

namespace cleanslate::controller {
namespace {

constexpr Command all_commands[] = {Command::check,     Command::clear,  Command::run,
                                    Command::hosts,     Command::trust,  Command::audit,
                                    Command::playbooks, Command::parse,  Command::baseline,
                                    Command::explain,   Command::report, Command::history};

std::unexpected<EarlyEnd> usage_error(const std::string& message, std::string_view command = {}) {
    const std::string space = command.empty() ? "" : " ";
    return std::unexpected(EarlyEnd{2, "",
                                    "cleanslate: " + printable(message) + "\nSee `cleanslate" + space +
                                        std::string(command) + " --help`.\n"});
}

void add_options_of(Command command, CLI::App& app, Options& options) {
    switch (command) {
        case Command::check:
        case Command::clear:
            add_host_options(app, options);
            if (command == Command::clear) add_killing_options(app, options);
            if (command == Command::clear) add_bounding_options(app, options);
            add_reach_options(app, options);
            add_becoming_options(app, options);
            add_judging_options(app, options);
            add_formats_options(app, options);
            add_host_lists_options(app, options);
            add_history_options(app, options);
            add_unattended_options(app, options);
            if (command == Command::clear) add_audit_option(app, options);
            add_verbosity_option(app, options);
            return;
        case Command::run:
            add_host_options(app, options);
            app.add_flag("--yes", options.yes, "Do not ask. Without a terminal --yes is required");
            app.add_flag("--raw-commands", options.raw_commands,
                         "Show and store the command with the secrets in it (default: masked)");
            add_reach_options(app, options);
            add_becoming_options(app, options);
            add_formats_options(app, options);
            add_audit_option(app, options);
            add_verbosity_option(app, options);
            return;
        case Command::trust:
            add_host_options(app, options);
            app.add_flag("--yes", options.yes,
                         "Do not ask. Without a terminal nothing is added but with --yes");
            add_reach_options(app, options);
            add_report_options(app, options);
            return;
        case Command::hosts:
            add_host_options(app, options);
            app.add_flag("--folded", options.folded, "One line, gpu[01-31,33] (default: one name a line)");
            return;
        case Command::playbooks:
            options.playbook.clear();
            app.add_option(
                "NAME", options.playbook,
                "Print this built-in playbook, or file, unchanged (default: list the built-in ones)");
            return;
        case Command::parse:
            add_parse_options(app, options);
            add_max_used_option(app, options);
            add_baseline_options(app, options);
            add_formats_options(app, options);
            return;
        case Command::baseline:
            add_host_options(app, options);
            add_recording_options(app, options);
            add_reach_options(app, options);
            add_becoming_options(app, options);
            add_protection_options(app, options);
            add_color_option(app, options);
            add_verbosity_option(app, options);
            return;
        case Command::explain:
            app.add_option("CODE", options.codes, "Finding codes (default: list all of them)");
            add_report_options(app, options);
            return;
        case Command::audit:
            add_audit_reading_options(app, options);
            add_report_options(app, options);
            return;
        case Command::report:
            add_report_files_options(app, options);
            add_formats_options(app, options);
            add_host_lists_options(app, options);
            return;
        case Command::history:
            add_history_command_options(app, options);
            return;
    }
}

struct CommandLine {
    CLI::App app{std::string(program_description())};
    std::map<Command, CLI::App*> subcommands;
    std::map<Command, Options> options;  // each command fills its own
};

std::unique_ptr<CommandLine> build() {
    auto line = std::make_unique<CommandLine>();
    line->app.name("cleanslate");
    line->app.formatter(std::make_shared<HelpFormatter>());
    line->app.require_subcommand(1);
    line->app.set_help_flag("-h,--help", "Print this help and exit");
    line->app.set_version_flag("--version", [] { return version_text(); });
    line->app.get_option("--version")
        ->description("Print the versions of this program and its libraries and exit");
    line->app.footer(std::string(program_footer()));
    for (const Command command : all_commands) {
        const std::string name(to_string(command));
        CLI::App* sub = line->app.add_subcommand(name, std::string(description_of(command)));
        Options& options = line->options[command];
        options.command = command;
        sub->group("Commands");
        sub->footer(std::string(footer_of(command)));
        add_options_of(command, *sub, options);
        line->subcommands[command] = sub;
    }
    return line;
}

bool has_hosts(Command command) {
    return command != Command::playbooks && command != Command::parse && command != Command::explain &&
           command != Command::audit && command != Command::report && command != Command::history;
}

// Stdout takes one report or list of hosts, and so does each file.
Status combine_formats(Options& options) {
    std::vector<std::string> files;
    const auto collect = [&](const auto& requests) {
        for (const auto& request : requests) files.push_back(request.file);
    };
    collect(options.formats);
    collect(options.clean_hosts);
    collect(options.not_clean_hosts);
    const auto on_stdout = std::ranges::count(files, "-");
    std::ranges::sort(files);
    if (const auto twice = std::ranges::adjacent_find(files); twice != files.end() && *twice != "-")
        return fail("usage", *twice + " is asked for twice: give each report and list a file of its own");
    if (on_stdout > 1)
        return fail("usage",
                    "stdout takes one report or list: give the others a file, as in --format html=FILE");
    const auto surveys_gpus = [](const FormatRequest& request) {
        return request.format == Format::csv || request.format == Format::prom;
    };
    if (options.command == Command::run && std::ranges::any_of(options.formats, surveys_gpus))
        return fail("usage", "run surveys no GPU: it has no form csv or prom");
    if (on_stdout == 0) options.formats.push_back({Format::text, "-"});
    if (options.history && options.no_history)
        return fail("usage", "--history does not go together with --no-history");
    return combine_unattended(options);
}

Status combine_history(const Options& options) {
    if (options.history_action != HistoryAction::list && !options.history_hosts.empty())
        return fail("usage", "--host shows the course of hosts: it does not go together with " +
                                 std::string(to_string(options.history_action)));
    if (options.history_action == HistoryAction::prune && !options.keep && !options.keep_last)
        return fail("usage", "prune must be told what stays: --keep 90d or --keep-last N");
    return {};
}

// What one option alone cannot know.
Status combine(Options& options, const Environment& environment) {
    if (options.baseline_margin && !options.baseline)
        return fail("usage", "--baseline-margin goes together with --baseline FILE");
    if (auto formats = combine_formats(options); !formats) return formats;
    if (options.command == Command::history) return combine_history(options);
    if (!has_hosts(options.command)) return {};
    if (options.command == Command::baseline && (!options.output || options.output->empty()))
        return fail("usage", "baseline must be told which file to write: -o FILE");
    if (options.command == Command::baseline && *options.output == "-")
        return fail("usage", "-o wants a file: stdout has the report");
    if (options.targets && (options.inventory || options.limit || options.local))
        return fail("usage", "-H names hosts outright: it does not go together with -i, -l or --local");
    if (options.local && (options.inventory || options.limit))
        return fail("usage", "--local is this machine: it does not go together with -i or -l");
    const bool must_say = options.command == Command::clear || options.command == Command::run;
    if (must_say && !options.limit && !options.targets && !options.local)
        return fail("usage", std::string(to_string(options.command)) +
                                 " must be told which hosts: -l LIMIT (-l all for every host of the "
                                 "inventory), -H or --local");
    if (!options.inventory && !options.targets && !options.local) {
        const auto found = environment.find("CLEANSLATE_INVENTORY");
        if (found == environment.end() || found->second.empty())
            return fail(
                "usage",
                std::string("which hosts? Give -i INVENTORY (or set $CLEANSLATE_INVENTORY)") +
                    (options.command == Command::trust ? " or -H TARGETS" : ", -H TARGETS or --local"));
        options.inventory = found->second;
    }
    if (options.command == Command::run && trim(options.remote_command).empty())
        return fail("usage", "run wants a command after --, as in: cleanslate run -l all -- uptime");
    return {};
}

// The words after the first "--" are run's command and none of CLI11's business.
std::string take_remote_command(std::vector<std::string>& arguments) {
    const auto marker = std::ranges::find(arguments, "--");
    if (marker == arguments.end()) return {};
    std::string command;
    for (auto word = marker + 1; word != arguments.end(); ++word) {
        if (word != marker + 1) command += ' ';
        command += *word;
    }
    arguments.erase(marker, arguments.end());
    return command;
}

std::string no_such_command(const std::string& word, const CommandLine& line) {
    std::vector<std::string> names;
    for (const auto& [command, app] : line.subcommands) names.emplace_back(to_string(command));
    const auto near = yaml::nearest(word, names);
    return "no such command: " + word + (near.empty() ? "" : ". Did you mean " + near + "?");
}

}  // namespace

std::string_view to_string(Command command) {
    switch (command) {
        case Command::check:
            return "check";
        case Command::clear:
            return "clear";
        case Command::run:
            return "run";
        case Command::hosts:
            return "hosts";
        case Command::playbooks:
            return "playbooks";
        case Command::parse:
            return "parse";
        case Command::baseline:
            return "baseline";
        case Command::explain:
            return "explain";
        case Command::audit:
            return "audit";
        case Command::trust:
            return "trust";
        case Command::report:
            return "report";
        case Command::history:
            return "history";
    }
    return "";
}

std::string_view to_string(HistoryAction action) {
    switch (action) {
        case HistoryAction::list:
            return "";
        case HistoryAction::show:
            return "show";
        case HistoryAction::diff:
            return "diff";
        case HistoryAction::top:
            return "top";
        case HistoryAction::prune:
            return "prune";
    }
    return "";
}

std::expected<Options, EarlyEnd> read_command_line(const std::vector<std::string>& arguments,
                                                   const Environment& environment) {
    const auto line = build();
    std::vector<std::string> words = arguments;
    std::string remote_command;
    if (!words.empty() && words.front() == "run") remote_command = take_remote_command(words);
    const auto chosen = [&]() -> std::string_view {
        const auto used = line->app.get_subcommands();
        return used.empty() ? std::string_view{} : std::string_view(used.front()->get_name());
    };
    try {
        std::ranges::reverse(words);  // CLI11 takes them from the back
        line->app.parse(words);
    } catch (const CLI::CallForVersion&) {
        return std::unexpected(EarlyEnd{0, version_text() + "\n", ""});
    } catch (const CLI::CallForHelp&) {
        const CLI::App* innermost = &line->app;
        while (!innermost->get_subcommands().empty()) innermost = innermost->get_subcommands().front();
        return std::unexpected(EarlyEnd{0, innermost->help(), ""});
    } catch (const CLI::ParseError& error) {
        if (arguments.empty()) return std::unexpected(EarlyEnd{2, "", line->app.help()});
        if (chosen().empty() && !arguments.front().starts_with('-'))
            return usage_error(no_such_command(arguments.front(), *line));
        return usage_error(error.what(), chosen());
    } catch (const std::exception& error) {
        return usage_error(error.what(), chosen());
    }
    for (auto& [command, options] : line->options) {
        if (!line->subcommands.at(command)->parsed()) continue;
        options.remote_command = remote_command;
        if (auto combined = combine(options, environment); !combined)
            return usage_error(combined.error().message, to_string(command));
        return options;
    }
    return usage_error("which command?");
}

Environment environment_of_process() {
    Environment environment;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto equals = text.find('=');
        if (equals != std::string_view::npos)
            environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return environment;
}

Result<std::optional<double>> parse_max_failures(const std::string& text) {
    const bool percent = text.ends_with('%');
    const auto number = parse_number(std::string_view(text).substr(0, text.size() - (percent ? 1 : 0)));
    if (!number || (percent && *number > 100) || *number > std::numeric_limits<int>::max())
        return fail("usage",
                    "wants a number of hosts (5) or a share of them (10%), not '" + printable(text) + "'");
    if (!percent) return static_cast<double>(*number);
    if (*number == 100) return std::nullopt;
    return static_cast<double>(*number) / 100.0;
}

}  // namespace cleanslate::controller
