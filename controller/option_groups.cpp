#include "controller/option_groups.hpp"

#include <limits>

#include "base/text.hpp"
#include "controller/option_values.hpp"
#include "inventory/jumps.hpp"
#include "inventory/names.hpp"

namespace cleanslate::controller {
namespace {

void add_jump_option(CLI::App& app, Options& options) {
    const auto read = [&options](const std::string& text, const std::string& option) {
        auto hops = inventory::read_hops(text);
        if (!hops) refuse(option, hops.error());
        options.jump = std::move(*hops);
    };
    add_read(
        app, "-J,--jump", "HOPS", read,
        "Reach all hosts through these: '[user@]host[:port]', several with commas between, first one first; "
        "none: through nobody (default: the inventory's proxy_jump, else ssh's configuration)")
        ->group("Reaching them");
}

void add_user_option(CLI::App& app, Options& options) {
    const auto read = [&options](const std::string& text, const std::string& option) {
        if (const auto fine = inventory::check_user(text); !fine) refuse(option, fine.error());
        options.user = text;
    };
    add_read(app, "-u,--user", "NAME", read,
             "Log in as; wins over the inventory, but not over 'NAME@' in -H (default: the inventory's, else "
             "ssh's configuration's, else whoever runs this)")
        ->group("Reaching them");
}

void add_max_failures(CLI::App& app, Options& options) {
    const auto read = [&options](const std::string& text, const std::string& option) {
        const auto limit = parse_max_failures(text);
        if (!limit) refuse(option, limit.error());
        options.limits.max_failures = *limit;
    };
    add_read(app, "--max-failures", "N|P%", read,
             "Begin no new host once more than so many are unreachable or unknown; exit status 4 (default: "
             "no limit)");
}

}  // namespace

void add_host_options(CLI::App& app, Options& options) {
    const std::string group = "Hosts";
    const bool must_say = options.command == Command::clear || options.command == Command::run;
    add_list(app, "-i,--inventory", "FILE", options.inventories,
             "Inventory: a file, a folder, a script, - for stdin, or ansible:PATH, which ansible-inventory "
             "reads; repeatable, later ones win (default: $CLEANSLATE_INVENTORY)")
        ->group(group);
    add_text(app, "-l,--limit", "LIMIT", options.limit,
             std::string(
                 "Names, groups, globs, ranges, ~REGEX, GROUP[0:3], @FILE; ',' or ':' or, '!' not, '&' and; "
                 "'all' for everything ") +
                 (must_say ? "(no default: this command must be told)" : "(default: all)"))
        ->group(group);
    const auto join = [&options](const std::vector<std::string>& texts) {
        std::string joined;
        for (const std::string& text : texts) joined += (&text == texts.data() ? "" : ",") + text;
        options.targets = joined;
    };
    app.add_option_function<std::vector<std::string>>(
           "-H,--hosts", join,
           std::string("Hosts outright, without an inventory: 'root@gpu[01-04]:22', @FILE, - for stdin; "
                       "repeatable; not together with -i") +
               (options.command == Command::trust ? " or -l (default: none)"
                                                  : ", -l or --local (default: none)"))
        ->type_name("TARGETS")
        ->allow_extra_args(false)
        ->group(group);
    add_slurm_options(app, options);
    add_shard_option(app, options);
    if (options.command == Command::trust) return;  // over SSH or not at all
    app.add_flag("--local", options.local, "This machine, without SSH; not together with -i, -l or -H")
        ->group(group);
}

void add_reach_options(CLI::App& app, Options& options) {
    const std::string reach = "Reaching them";
    add_user_option(app, options);
    add_text(app, "-F,--ssh-config", "FILE", options.ssh_config,
             "ssh's configuration; none: no file (default: ~/.ssh/config and /etc/ssh/ssh_config)")
        ->group(reach);
    add_jump_option(app, options);
    add_list(app, "--identity", "FILE", options.identities,
             "Private key; repeatable; wins over the inventory (default: the inventory's, else "
             "ssh's configuration's, else ~/.ssh/id_ed25519, id_ecdsa and id_rsa; and the agent's)")
        ->group(reach);
    add_list(app, "--known-hosts", "FILE", options.known_hosts,
             "Known host keys; repeatable; accept-new writes to the first (default: ssh's configuration's, "
             "else ~/.ssh/known_hosts and /etc/ssh/ssh_known_hosts)")
        ->group(reach);
    using agentless::HostKeyCheck;
    add_choice<HostKeyCheck>(
        app, "--host-key-check", options.host_key_check,
        {{"strict", HostKeyCheck::strict},
         {"accept-new", HostKeyCheck::accept_new},
         {"off", HostKeyCheck::off}},
        "What to do with host keys that are not known (default: ssh's configuration's, else strict: "
        "refuse)")
        ->group(reach);
    add_duration(
        app, "--connect-timeout", options.connect_timeout,
        "For each of resolve, connect, handshake and login (default: ssh's configuration's, else 10s)")
        ->group(reach);
    app.option_defaults()->group("Bounds");
    add_count(app, "-f,--fanout", options.limits.fanout, 1, 10'000,
              options.command == Command::trust
                  ? "Hosts at a time (default 128)"
                  : "Hosts at a time (default 128): commands, signals and all other acts but reboots never "
                    "run on more. "
                    "One that "
                    "keeps waiting for its connection or its first survey gives its place to the next, and "
                    "one that "
                    "settles or reboots does, up to 4 times as many; with 1, none does");
    if (options.command == Command::trust) {
        add_duration(app, "--deadline", options.limits.deadline,
                     "For all hosts together; exit status 4 when it passes (default: none)");
        app.option_defaults()->group("Options");
        return;
    }
    add_count(app, "--threads", options.limits.threads, 0, 1024, "Threads (default 0: one a core)");
    add_duration(app, "--timeout", options.limits.step_timeout,
                 "One step: a survey, a command, a signal round over and above its own wait (default 60s)");
    add_duration(app, "--deadline", options.limits.deadline,
                 "The whole sweep; exit status 4 when it passes (default: none)");
    add_max_failures(app, options);
    app.option_defaults()->group("Options");
}

}  // namespace cleanslate::controller
