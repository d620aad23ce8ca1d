// The options of clear that say what is done, how much of it at most, and what needs a word of its own; and
// how a login becomes root.

#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {
namespace {

constexpr int most_kills = 100'000;
constexpr int most_kills_total = 100'000'000;

void add_bound(CLI::App& app, const std::string& name, std::optional<int>& slot, int most,
               const std::string& help) {
    const auto read = [&slot, most](const std::string& text, const std::string& option) {
        const auto number = parse_number(text);
        if (!number || *number < 1 || *number > static_cast<std::uint64_t>(most))
            throw CLI::ValidationError(option, "wants a number from 1 to " + std::to_string(most));
        slot = static_cast<int>(*number);
    };
    add_read(app, name, "N", read, help);
}

void add_settings(CLI::App& app, Options& options) {
    const auto read = [&options](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
            const auto equals = text.find('=');
            if (equals == 0 || equals == std::string::npos)
                throw CLI::ValidationError("--set", "wants NAME=VALUE, not '" + printable(text) + "'");
            const std::string name = text.substr(0, equals);
            if (!options.settings.emplace(name, text.substr(equals + 1)).second)
                throw CLI::ValidationError("--set", "gives '" + printable(name) + "' twice");
        }
    };
    app.add_option_function<std::vector<std::string>>(
           "--set", read,
           "Give a parameter of the playbook its value; repeatable (default: the playbook's own)")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

}  // namespace

void add_killing_options(CLI::App& app, Options& options) {
    app.option_defaults()->group("Clearing");
    add_text(app, "-p,--playbook", "PLAYBOOK", options.playbook,
             "A built-in one (see `cleanslate playbooks`) or a file (default clear)");
    add_settings(app, options);
    app.add_flag("--dry-run", options.dry_run,
                 "Show the plan, signal nothing, run nothing; ends like `check` (default: off)");
    app.add_flag("--yes", options.yes,
                 "Do not ask; covers whatever is found. Without a terminal --yes or --dry-run is required");
    app.add_flag("--include-jobs", options.include_jobs,
                 "Also what runs in Slurm jobs and Kubernetes pods (default: left alone, but for "
                 "$SLURM_JOB_ID's own)");
    add_duration(
        app, "--settle", options.settle,
        "Clean needs a second clean survey so long after the last signal (default 2s; 12s after a stop "
        "or a reboot, and where a unit, container, pod or launcher may start a target again)");
    app.option_defaults()->group("Options");
}

void add_bounding_options(CLI::App& app, Options& options) {
    app.option_defaults()->group("Bounds of clearing");
    add_bound(
        app, "--max-kills", options.max_kills, most_kills,
        "More targets than that on a host, and nothing is signalled there (default: the playbook's, else "
        "no limit)");
    add_bound(app, "--max-kills-total", options.max_kills_total, most_kills_total,
              "The same for all hosts together: the host that would pass it is not signalled (default: no "
              "limit)");
    add_duration(
        app, "--lock-wait", options.lock_wait,
        "So long for another cleanslate that works on a host to let go; then it is busy, and unknown "
        "(default 10s; 0s: not at all)");
    app.option_defaults()->group("Steps that need a word of their own");
    app.add_flag("--allow-reset", options.allow_reset,
                 "Carry out `reset` steps of the playbook: GPUs are reset (default: withheld)");
    app.add_flag("--allow-reboot", options.allow_reboot,
                 "Carry out `reboot` steps: hosts are rebooted (default: withheld)");
    app.add_flag("--allow-shm", options.allow_shm,
                 "Carry out `clean_shm` steps: files of /dev/shm are removed (default: withheld)");
    add_count(app, "--serial", options.serial, 1, 10'000, "Hosts that reboot at a time (default 1)");
    app.option_defaults()->group("Options");
}

void add_becoming_options(CLI::App& app, Options& options) {
    app.add_flag("--ask-pass", options.ask_pass,
                 "Ask once for the password of the logins, before any host is contacted; for hosts that take "
                 "no key "
                 "(default: keys alone)")
        ->group("Reaching them");
    const std::string group = "Becoming root";
    app.add_flag("--become", options.become,
                 "Through sudo, on every host (default: where the inventory says become: true)")
        ->group(group);
    app.add_flag(
           "--ask-become-pass", options.ask_become_pass,
           "Ask once for sudo's password, before any host is contacted; for hosts that become (default: "
           "sudo -n, which needs none)")
        ->group(group);
}

}  // namespace cleanslate::controller
