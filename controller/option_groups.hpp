#pragma once
// The options that several commands share, each with its default in its help. Private to how
// a command line is read.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "controller/config/config.hpp"
#include "controller/options.hpp"

namespace cleanslate::controller {

void add_host_options(CLI::App& app, Options& options);
void add_hosts_options(CLI::App& app, Options& options);  // of `hosts` alone
void add_shard_option(CLI::App& app, Options& options);
Status combine_shard(Options& options, const Environment& environment);
void add_last_failed_options(CLI::App& app, Options& options);
void add_reach_options(CLI::App& app, Options& options);
void add_judging_options(CLI::App& app, Options& options);
void add_baseline_options(CLI::App& app, Options& options);
void add_protection_options(CLI::App& app, Options& options);
void add_recording_options(CLI::App& app, Options& options);
void add_killing_options(CLI::App& app, Options& options);
void add_bounding_options(CLI::App& app, Options& options);
void add_becoming_options(CLI::App& app, Options& options);
void add_parse_options(CLI::App& app, Options& options);
void add_audit_reading_options(CLI::App& app, Options& options);
void add_report_files(CLI::App& app, Options& options);  // FILE...
void add_report_files_options(CLI::App& app, Options& options);
void add_drain_list_options(CLI::App& app, Options& options);
void add_report_options(CLI::App& app, Options& options);   // text or json
void add_formats_options(CLI::App& app, Options& options);  // every form of a report
void add_color_option(CLI::App& app, Options& options);
void add_verbosity_option(CLI::App& app, Options& options);
void add_audit_option(CLI::App& app, Options& options);
void add_host_lists_options(CLI::App& app, Options& options);
void add_history_options(CLI::App& app, Options& options);
void add_unattended_options(CLI::App& app, Options& options);
void add_config_option(CLI::App& app, Options& options);  // and of its actions
// Gives what was not given on the command line the values of the config files. Errors have kind "config".
Status apply_config(CLI::App& command, Options& options, const config::Config& config);
void add_slurm_options(CLI::App& app, Options& options);
Status combine_slurm(const Options& options);       // what one of them alone cannot know
Status combine_unattended(const Options& options);  // what one of them alone cannot know
// The same of all options; completes them from the environment. Errors have kind "usage".
Status combine_options(Options& options, const Environment& environment);
void add_history_command_options(CLI::App& app, Options& options);
void add_max_used_option(CLI::App& app, Options& options);
void add_completion_options(CLI::App& app, Options& options);
// What a shell asks is no command line of this program: its words are taken as they are.
std::optional<Options> read_completion_call(const std::vector<std::string>& arguments);

// A help page of 80 columns, with the usage lines of this program.
class HelpFormatter : public CLI::Formatter {
  public:
    HelpFormatter();
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
    std::string make_usage(const CLI::App* app, std::string name) const override;
    std::string make_option(const CLI::Option* option, bool is_positional) const override;
    std::string make_subcommand(const CLI::App* sub) const override;
};

}  // namespace cleanslate::controller
