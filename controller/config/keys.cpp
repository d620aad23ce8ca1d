#include "controller/config/keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cleanslate::controller::config {
namespace {

constexpr Key all_keys[] = {
    {"inventory", Shape::list, Names::inventory, "none", "which hosts there are (`-i`)"},
    {"playbook", Shape::text, Names::playbook, "clear",
     "of `clear`: a built-in one, or a file (with a `/`, or ending in .yaml)"},
    {"protect", Shape::growing_list, Names::no_file, "none",
     "never signalled, beside the built-in list; grows"},
    {"unprotect", Shape::growing_list, Names::no_file, "none", "taken off the protected list; grows"},
    {"format", Shape::list, Names::format, "text", "forms of the report of `check` and `clear`"},
    {"user", Shape::text, Names::no_file, "ssh's configuration, else whoever runs this",
     "who logs in, where the inventory does not say"},
    {"identity", Shape::list, Names::file, "ssh's configuration, else ~/.ssh/id_*, and the agent's",
     "private keys, where the inventory names none"},
    {"known-hosts", Shape::list, Names::file,
     "ssh's configuration, else ~/.ssh/known_hosts and /etc/ssh/ssh_known_hosts", "known host keys"},
    {"ssh-config", Shape::text, Names::file_or_none, "~/.ssh/config and /etc/ssh/ssh_config",
     "ssh's configuration; `none`: no file"},
    {"jump", Shape::text, Names::no_file, "ssh's configuration",
     "the hosts on the way, where the inventory does not say; `none`: through nobody"},
    {"host-key-check", Shape::text, Names::no_file, "ssh's configuration, else strict",
     "`strict` or `accept-new`"},
    {"connect-timeout", Shape::text, Names::no_file, "ssh's configuration, else 10s",
     "for each of resolve, connect, handshake and login"},
    {"timeout", Shape::text, Names::no_file, "60s", "one step of a host"},
    {"deadline", Shape::text, Names::no_file, "none", "the whole sweep"},
    {"fanout", Shape::text, Names::no_file, "128", "hosts at a time"},
    {"threads", Shape::text, Names::no_file, "one a core", "threads of the program"},
    {"max-failures", Shape::text, Names::no_file, "no limit",
     "no new host once so many are unreachable or unknown"},
    {"max-used", Shape::text, Names::no_file, "100MiB; 400MiB for drivers before 510",
     "a GPU above it is dirty, where neither inventory nor baseline says"},
    {"baseline", Shape::text, Names::file, "none", "each GPU's idle memory, as `baseline` has recorded it"},
    {"baseline-margin", Shape::text, Names::no_file, "50MiB", "so much above the baseline is clean"},
    {"require-holders", Shape::yes_or_no, Names::no_file, "false",
     "unknown, not clean, where others' processes cannot be seen"},
    {"settle", Shape::text, Names::no_file, "2s; 12s where a supervisor may start a target again",
     "between the last signal and the look that proves"},
    {"max-kills", Shape::text, Names::no_file, "the playbook's, else no limit",
     "more targets on a host, and nothing is signalled there"},
    {"max-kills-total", Shape::text, Names::no_file, "no limit", "the same for all hosts together"},
    {"lock-wait", Shape::text, Names::no_file, "10s", "for another cleanslate to let a host go"},
    {"history", Shape::text, Names::file,
     "$XDG_STATE_HOME/cleanslate/history.db, else ~/.local/state/cleanslate/history.db",
     "where sweeps are kept, and read again"},
    {"audit", Shape::text, Names::file,
     "$XDG_STATE_HOME/cleanslate/audit.jsonl, else ~/.local/state/cleanslate/audit.jsonl",
     "where each signal and command is written down"},
    {"color", Shape::text, Names::no_file, "auto", "`auto`, `always` or `never`"},
};

constexpr std::string_view consent = "is a yes to what is found now, and must be given each time";
constexpr std::string_view hosts = "says which hosts are meant, and must be given each time";
constexpr std::string_view no_undo = "does what cannot be taken back, and must be given each time";
constexpr std::string_view secret = "asks a person, and must be given each time";
constexpr std::string_view timer = "is for sweeps that nobody watches: it belongs on the timer's own line";
constexpr std::string_view one_sweep = "belongs to one sweep, and must be given each time";

constexpr std::pair<std::string_view, std::string_view> refused[] = {
    {"yes", consent},
    {"dry-run", "would make each clear a dry run without anybody asking for one"},
    {"allow-reset", no_undo},
    {"allow-reboot", no_undo},
    {"allow-shm", no_undo},
    {"include-jobs", "ends other people's jobs, and must be given each time"},
    {"serial", no_undo},
    {"local", hosts},
    {"limit", hosts},
    {"l", hosts},
    {"hosts", hosts},
    {"H", hosts},
    {"last-failed", hosts},
    {"shard", hosts},
    {"raw-commands", "shows secrets, and must be given each time"},
    {"become", "belongs to hosts: write `become: true` into the inventory"},
    {"ask-pass", secret},
    {"ask-become-pass", secret},
    {"set", "belongs to one playbook: write the values into a playbook of your own"},
    {"jitter", timer},
    {"exclusive", timer},
    {"on-change", timer},
    {"on-change-timeout", timer},
    {"clean-hosts", one_sweep},
    {"not-clean-hosts", one_sweep},
    {"expect-hosts", one_sweep},
    {"no-history", one_sweep},
    {"quiet", one_sweep},
    {"verbose", one_sweep},
    {"config", "cannot stand in a config file"},
};

}  // namespace

std::span<const Key> keys() { return all_keys; }

const Key* find_key(std::string_view name) {
    const auto found = std::ranges::find(all_keys, name, &Key::name);
    return found == std::end(all_keys) ? nullptr : &*found;
}

std::vector<std::string> key_names() {
    std::vector<std::string> names;
    for (const Key& key : all_keys) names.emplace_back(key.name);
    return names;
}

std::string_view never_a_default(std::string_view name) {
    const auto found =
        std::ranges::find(refused, name, &std::pair<std::string_view, std::string_view>::first);
    return found == std::end(refused) ? std::string_view{} : found->second;
}

bool reads_config(Command command) {
    return command != Command::explain && command != Command::playbooks && command != Command::config &&
           command != Command::drain_list && command != Command::completion && command != Command::complete;
}

bool applies(const Key& key, Command command) {
    // A report that is shown again must not overwrite the files of the last sweep; run surveys no GPU.
    if (key.name == "format") return command == Command::check || command == Command::clear;
    // To the command baseline it is a leak's least size, and no limit of a verdict.
    if (key.name == "max-used") return command != Command::baseline;
    // To history it is a filter.
    if (key.name == "inventory") return command != Command::history;
    return reads_config(command);
}

}  // namespace cleanslate::controller::config
