#pragma once
// The command line as data. Only options.cpp, command_tree.cpp and the option groups know CLI11.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agentless/fleet.hpp"
#include "agentless/recording.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "controller/formats/format.hpp"
#include "controller/shard.hpp"

namespace cleanslate::controller {

enum class Command {
    check,
    clear,
    run,
    hosts,
    playbooks,
    parse,
    baseline,
    explain,
    audit,
    trust,
    report,
    history,
    drain_list,
    config,
    completion,
    complete  // what a shell asks; not shown
};
std::string_view to_string(Command command);
// check, clear, run: what contacts hosts and ends with a report of them.
inline bool is_sweep(Command command) {
    return command == Command::check || command == Command::clear || command == Command::run;
}

// What the history is asked for; `list` has no word of its own.
enum class HistoryAction { list, show, diff, top, prune };
std::string_view to_string(HistoryAction action);

enum class ColorMode { automatic, always, never };

// What a config file says and an inventory may say better: the inventory's word wins. docs/config.md.
struct Beneath {
    std::vector<std::string> inventory;  // beneath $CLEANSLATE_INVENTORY
    std::optional<std::string> user, jump;
    std::vector<std::string> identities;
    std::optional<Mebibytes> max_used;  // beneath a baseline, too
    bool accept_new = false;  // host-key-check: accept-new; strict holds whatever the inventory says
};

// Hosts that Slurm names.
struct SlurmRequest {
    std::optional<std::string> job;       // --slurm-job; empty: the one that this runs in
    std::vector<std::string> partitions;  // --slurm-partition
    std::vector<std::string> states;      // --state
    bool asked() const { return job || !partitions.empty(); }
    // Its answer, once there is one.
    std::optional<std::vector<std::string>> nodes;
    std::string source;  // "slurm job 4242"
};

struct Options {
    Command command = Command::check;
    std::optional<std::string> config;  // --config FILE
    Beneath beneath;
    // Which hosts
    std::vector<std::string> inventories;  // -i, else $CLEANSLATE_INVENTORY
    std::optional<std::string> limit;
    std::optional<std::string> targets;  // -H, several joined by commas
    SlurmRequest slurm;
    bool local = false;
    std::optional<std::string> shard_text;  // --shard, and what it comes to
    std::optional<Shard> shard;
    bool folded = false;  // hosts
    bool groups = false;  // hosts
    bool last_failed = false;
    std::optional<std::vector<std::string>> only;  // of those that are selected; of --last-failed
    // How they are reached
    std::optional<std::string> user;
    std::vector<std::string> identities;
    std::vector<std::string> known_hosts;
    std::optional<agentless::HostKeyCheck> host_key_check;
    std::optional<Milliseconds> connect_timeout;
    std::optional<std::string> ssh_config;  // -F
    std::optional<std::string> jump;        // -J
    bool ask_pass = false;                  // the logins' password
    bool become = false;                    // over and above the hosts whose inventory says so
    bool ask_become_pass = false;           // sudo's password, for hosts that become
    // Bounds of the sweep
    agentless::SweepLimits limits;
    // How they are judged
    std::optional<Mebibytes> max_used;
    std::optional<std::string> baseline;  // --baseline FILE
    std::optional<Mebibytes> baseline_margin;
    bool require_holders = false;
    bool raw_commands = false;
    std::vector<std::string> protect;
    std::vector<std::string> unprotect;
    // What is done
    std::string playbook = "clear";  // clear; of `playbooks` the NAME, empty: list
    std::map<std::string, std::string> settings;
    bool dry_run = false;
    bool yes = false;
    bool include_jobs = false;
    std::optional<Milliseconds> settle;
    std::optional<int> max_kills;        // on one host; absent: the playbook's
    std::optional<int> max_kills_total;  // on all hosts together
    bool allow_reset = false, allow_reboot = false, allow_shm = false;
    int serial = 1;  // hosts that reboot at a time
    Milliseconds lock_wait{10'000};
    std::string remote_command;  // run
    // parse
    std::string file = "-";
    std::vector<std::string> columns;
    std::optional<int> expect;
    bool expect_any = false;
    std::optional<int> exit_status;  // what nvidia-smi ended with
    // report
    bool merge = false;                  // else show
    std::optional<Milliseconds> within;  // how far apart the merged reports may have begun
    std::vector<std::string> report_files;
    // drain-list: its reports are report_files
    std::set<agentless::Verdict> drained{agentless::Verdict::dirty, agentless::Verdict::sick};
    std::optional<std::string> node;  // Slurm's name of a report's only host
    bool apply = false;
    Milliseconds apply_timeout{30'000};
    Milliseconds max_age{86'400'000};
    // baseline
    std::optional<std::string> output;  // -o
    Mebibytes most_idle = agentless::most_idle;
    // explain
    std::vector<std::string> codes;  // none: list them all
    // audit
    std::vector<std::string> audit_hosts;  // names, globs and node sets; none: every host
    std::optional<std::string> since;      // history, too
    // history
    HistoryAction history_action = HistoryAction::list;
    std::vector<std::string> sweeps;         // show: one; diff: up to two; numbers, or "last"
    std::vector<std::string> history_hosts;  // as audit_hosts
    std::optional<int> last;                 // list: sweeps; top: rows
    std::optional<Milliseconds> keep;        // prune
    std::optional<int> keep_last;
    // completion, complete
    std::string shell;
    std::vector<std::string> typed;  // the words up to the cursor, the last of them perhaps empty
    // What is told
    Format format = Format::text;        // of commands that know text and json alone
    std::vector<FormatRequest> formats;  // of reports; none: text on stdout, if nothing else is there
    bool quiet = false;                  // of the text on stdout its last line
    ColorMode color = ColorMode::automatic;
    int verbosity = 0;
    std::vector<ListRequest> clean_hosts, not_clean_hosts;
    std::optional<int> expect_hosts;  // so many clean ones are enough
    std::optional<std::string> audit;
    std::optional<std::string> history;  // --history FILE; absent: the default one
    bool no_history = false;
    // When nobody watches
    Milliseconds jitter{0};  // waited at most before the first contact
    bool exclusive = false;  // no other sweep of the inventory at the same time
    std::optional<std::string> on_change;
    std::optional<Milliseconds> on_change_timeout;
};

// The command line asked for a text (help, version) or was wrong.
struct EarlyEnd {
    int exit_status = 2;
    std::string out;  // for stdout
    std::string err;  // for stderr
};

using Environment = std::map<std::string, std::string>;

// The config file of the whole site.
inline constexpr const char* site_config = "/etc/cleanslate/config.yaml";

// Reads a command line, `arguments` without the program's name, and the config files beneath it: the user's,
// which --config and the environment name, and `site`. Never throws.
std::expected<Options, EarlyEnd> read_command_line(const std::vector<std::string>& arguments,
                                                   const Environment& environment,
                                                   const std::string& site = site_config);

// The whole process's environment.
Environment environment_of_process();

// "5" -> 5, "10%" -> 0.1, "100%" -> no limit. Anything else is an error of kind "usage".
Result<std::optional<double>> parse_max_failures(const std::string& text);

}  // namespace cleanslate::controller
