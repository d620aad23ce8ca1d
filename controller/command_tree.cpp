#include "controller/command_tree.hpp"

#include "controller/config/keys.hpp"
#include "controller/help_topics.hpp"
#include "controller/option_groups.hpp"

namespace cleanslate::controller {
namespace {

constexpr Command all_commands[] = {
    Command::check,  Command::clear,     Command::run,        Command::hosts,    Command::trust,
    Command::audit,  Command::playbooks, Command::parse,      Command::baseline, Command::explain,
    Command::report, Command::history,   Command::drain_list, Command::config,   Command::completion};

void add_options_of(Command command, CLI::App& app, Options& options) {
    switch (command) {
        case Command::check:
        case Command::clear:
            add_host_options(app, options);
            add_last_failed_options(app, options);
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
            add_last_failed_options(app, options);
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
            add_hosts_options(app, options);
            add_last_failed_options(app, options);
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
        case Command::drain_list:
            add_drain_list_options(app, options);
            return;
        case Command::config:
            add_report_options(app, options);
            return;
        case Command::completion:
            add_completion_options(app, options);
            return;
        case Command::complete:
            return;
    }
}

void add_help_command(CommandTree& line) {
    line.help = line.app.add_subcommand("help", "Explain a topic, or a command");
    line.help->group("Commands");
    line.help->footer(list_of_topics() + R"(

Examples:
  cleanslate help verdicts
  cleanslate help clear
  cleanslate help history show

Exit status: 0; 2 where there is no such topic.)");
    line.help
        ->add_option("TOPIC", line.help_words,
                     "A topic, or a command with or without its action (default: what --help prints)")
        ->expected(0, 2);
}

}  // namespace

std::unique_ptr<CommandTree> command_tree() {
    auto line = std::make_unique<CommandTree>();
    line->app.name("cleanslate");
    line->app.formatter(std::make_shared<HelpFormatter>());
    line->app.require_subcommand(1);
    line->app.set_help_flag("-h,--help", "Print this help and exit");
    line->app.set_version_flag("--version", [] { return version_text(); });
    line->app.get_option("--version")
        ->description("Print the versions of this program and its libraries and exit");
    line->app.footer(std::string(program_footer()) + "\n\n" + list_of_topics());
    for (const Command command : all_commands) {
        const std::string name(to_string(command));
        CLI::App* sub = line->app.add_subcommand(name, std::string(description_of(command)));
        Options& options = line->options[command];
        options.command = command;
        sub->group("Commands");
        sub->footer(std::string(footer_of(command)));
        add_options_of(command, *sub, options);
        if (config::reads_config(command) || command == Command::config) add_config_option(*sub, options);
        line->subcommands[command] = sub;
    }
    add_help_command(*line);
    return line;
}

}  // namespace cleanslate::controller
