// Options that only together are right or wrong.

#include <algorithm>

#include "base/text.hpp"
#include "controller/option_groups.hpp"

namespace cleanslate::controller {
namespace {

bool has_hosts(Command command) {
    return command != Command::playbooks && command != Command::parse && command != Command::explain &&
           command != Command::audit && command != Command::report && command != Command::history &&
           command != Command::drain_list && command != Command::config && command != Command::completion;
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

Status combine_remote_command(const Options& options) {
    if (options.command == Command::run && trim(options.remote_command).empty())
        return fail("usage", "run wants a command after --, as in: cleanslate run -l all -- uptime");
    return {};
}

}  // namespace

Status combine_options(Options& options, const Environment& environment) {
    if (options.baseline_margin && !options.baseline)
        return fail("usage", "--baseline-margin goes together with --baseline FILE");
    if (auto formats = combine_formats(options); !formats) return formats;
    if (options.command == Command::history) return combine_history(options);
    if (!has_hosts(options.command)) return {};
    if (options.command == Command::baseline && (!options.output || options.output->empty()))
        return fail("usage", "baseline must be told which file to write: -o FILE");
    if (options.command == Command::baseline && *options.output == "-")
        return fail("usage", "-o wants a file: stdout has the report");
    if (options.targets && (!options.inventories.empty() || options.limit || options.local))
        return fail("usage", "-H names hosts outright: it does not go together with -i, -l or --local");
    if (options.local && (!options.inventories.empty() || options.limit))
        return fail("usage", "--local is this machine: it does not go together with -i or -l");
    if (auto slurm = combine_slurm(options); !slurm) return slurm;
    if (auto shard = combine_shard(options, environment); !shard) return shard;
    if (options.last_failed && (options.targets || options.local))
        return fail("usage",
                    "--last-failed is of an inventory's hosts: it does not go together with -H or --local");
    if (options.last_failed && options.shard)
        return fail("usage",
                    "--last-failed does not go together with --shard: each shard has a history of its own");
    if (std::ranges::count(options.inventories, "-") > 1)
        return fail("usage", "-i - is given twice: standard input is one inventory");
    const bool must_say = options.command == Command::clear || options.command == Command::run;
    if (must_say && !options.limit && !options.targets && !options.local && !options.last_failed &&
        !options.slurm.asked())
        return fail("usage", std::string(to_string(options.command)) +
                                 " must be told which hosts: -l LIMIT (-l all for every host of the "
                                 "inventory), --last-failed, -H or --local");
    if (options.inventories.empty() && !options.targets && !options.local) {
        const auto found = environment.find("CLEANSLATE_INVENTORY");
        const bool in_environment = found != environment.end() && !found->second.empty();
        if (!in_environment && options.beneath.inventory.empty() && options.slurm.asked())
            return combine_remote_command(options);
        if (!in_environment && options.beneath.inventory.empty())
            return fail(
                "usage",
                std::string("which hosts? Give -i INVENTORY (or set $CLEANSLATE_INVENTORY)") +
                    (options.command == Command::trust ? " or -H TARGETS" : ", -H TARGETS or --local"));
        options.inventories = in_environment ? std::vector{found->second} : options.beneath.inventory;
    }
    if (options.last_failed && std::ranges::count(options.inventories, "-") > 0)
        return fail("usage",
                    "--last-failed looks for earlier sweeps of the same inventory: give it as a file");
    return combine_remote_command(options);
}

}  // namespace cleanslate::controller
