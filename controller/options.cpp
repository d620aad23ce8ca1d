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
        if (auto combined = combine_options(options, environment); !combined)
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
