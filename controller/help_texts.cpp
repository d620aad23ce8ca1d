#include "controller/help_texts.hpp"

#include "agentless/versions.hpp"

namespace cleanslate::controller {

std::string_view program_description() {
    return "Clears GPU hosts over plain SSH and proves that they are clear. Nothing is\n"
           "installed on the hosts.";
}

std::string_view program_footer() {
    return R"(HOSTS is one of
  -i INVENTORY [-l LIMIT]   an inventory (without -i: $CLEANSLATE_INVENTORY)
  -H 'root@gpu[01-04]'      hosts outright, without any inventory
  --local                   this machine, without SSH

Examples:
  cleanslate check -i fleet.yaml
  cleanslate clear -H 'root@gpu[01-04]' --dry-run

Exit status: 0 all clean; 1 some dirty or sick; 2 usage, nothing was contacted;
3 some unknown or unreachable; 4 stopped by --max-failures or --deadline;
5 a report or audit could not be written, or an internal error;
130, 143 interrupted. `cleanslate COMMAND --help` has every option.)";
}

std::string_view description_of(Command command) {
    switch (command) {
        case Command::check:
            return "Look only: which GPUs are clean, and who holds the others";
        case Command::clear:
            return "End what holds the GPUs, step by step, and prove that they are clean";
        case Command::run:
            return "Run one command on every host; identical output is folded";
        case Command::hosts:
            return "Print the selected names; nothing is contacted";
        case Command::trust:
            return "Show the hosts' keys, and add new ones after a yes";
        case Command::playbooks:
            return "List the built-in playbooks, or print one unchanged";
        case Command::parse:
            return "Judge what an nvidia-smi query printed, by the same rules as check";
        case Command::baseline:
            return "Record each GPU's idle memory, on hosts known to be clean";
        case Command::explain:
            return "Say what a finding code means, what shows it and what to do";
        case Command::audit:
            return "Read the audit log back: who did what to which process, when and why";
        case Command::report:
            return "Show a JSON report in any form, or merge those of shards into one";
        case Command::history:
            return "Earlier sweeps: list, show and compare them, and who leaves most behind";
        case Command::drain_list:
            return "Print what tells Slurm to drain the nodes that a report finds not clean";
        case Command::config:
            return "Print each setting in force, its value and where that comes from";
        case Command::completion:
            return "Print what makes a shell complete command lines of cleanslate";
        case Command::complete:
            return "";
    }
    return "";
}

std::string_view footer_of(Command command) {
    switch (command) {
        case Command::check:
            return R"(Enter, typed on the terminal meanwhile, says who is unfinished. Durations are
500ms, 10s, 5m, 2h; sizes 100MiB, 1GiB; bare numbers are refused.

Examples:
  cleanslate check -i fleet.yaml -l 'rack1,!gpu07'
  cleanslate check -H 'root@gpu[01-04]' --format json
  cleanslate check -i fleet.yaml -q --on-change 'cleanslate-mail root'

Exit status: 0 all clean; 1 some dirty or sick; 3 some unknown or unreachable;
see `cleanslate --help` for the others.)";
        case Command::clear:
            return R"(On a terminal the plan is shown first, and nothing is signalled without a yes;
the wait does not count against --deadline. Durations are 500ms, 10s, 5m, 2h;
sizes 100MiB, 1GiB; bare numbers are refused.

Examples:
  cleanslate clear -i fleet.yaml -l rack1 --dry-run
  cleanslate clear -H 'root@gpu[01-04]' --yes --clean-hosts clean.txt
  cleanslate clear -i fleet.yaml -l all -p by-name --set pattern=sglang
  cleanslate clear -i fleet.yaml -l all -p ./mine.yaml --allow-reset

Exit status: 0 all clean; 1 some dirty or sick; 3 some unknown or unreachable;
see `cleanslate --help` for the others.)";
        case Command::run:
            return R"(The words after -- are joined by blanks and handed to /bin/sh on each host. On
a terminal the hosts and the command are shown first, and nothing is run without
a yes.

Example:
  cleanslate run -i fleet.yaml -l 'gpu[01-04]' --yes -- 'uname -r; uptime -p'

Exit status: 0 it succeeded everywhere; 1 it failed somewhere; 3 some hosts
could not be asked; see `cleanslate --help` for the others.)";
        case Command::hosts:
            return R"(Example:
  cleanslate hosts -i fleet.yaml -l 'rack1,!gpu07' --folded
  cleanslate hosts -i fleet.yaml -l gpu07 --format json

Exit status: 0; 2 for a broken inventory, or where nothing is selected.)";
        case Command::trust:
            return R"(Goes just far enough to see a host's key; nobody logs in, but at jump hosts,
whose keys must be known. A key that has changed or is revoked is never added.

Examples:
  cleanslate trust -i fleet.yaml
  cleanslate trust -H 'gpu[01-04]' --known-hosts ./known_hosts --yes

Exit status: 0 all are known now; 1 some are not, have changed or are revoked;
3 some hosts showed no key; 5 a key or the report could not be written; see
`cleanslate --help` for the others.)";
        case Command::playbooks:
            return R"(Examples:
  cleanslate playbooks
  cleanslate playbooks clear > mine.yaml
  cleanslate clear -i fleet.yaml -l all -p ./mine.yaml --dry-run

Exit status: 0; 2 where there is no such playbook.)";
        case Command::parse:
            return R"(The host is named - in the report.

Example:
  nvidia-smi --query-gpu=index,memory.used --format=csv,noheader |
    cleanslate parse --expect 8

Exit status: 0 clean; 1 dirty or sick; 2 usage, or a file that cannot be read;
3 unknown; 5 the report could not be written.)";
        case Command::baseline:
            return R"(A check of the hosts; what their GPUs show while nobody holds them is written to
FILE, by uuid. A GPU that is held, sick or unknown is left out, with the reason.

Examples:
  cleanslate baseline -i fleet.yaml -o idle.yaml
  cleanslate check -i fleet.yaml --baseline idle.yaml

Exit status: 0 every GPU was recorded; 1 some were left out; 3 some hosts are
unknown or unreachable; see `cleanslate --help` for the others. With 2 and 4,
and where nothing could be recorded, FILE is left as it was.)";
        case Command::explain:
            return R"(Examples:
  cleanslate explain
  cleanslate explain driver-hung row-remap-pending

Exit status: 0; 2 where there is no such code.)";
        case Command::audit:
            return R"(Every signal and command that was sent, by sweep, with what became of it.
Nothing is written, and no host is contacted. Times are in UTC.

Examples:
  cleanslate audit --since 7d
  cleanslate audit --host 'gpu[01-04]' --since 2026-11-29 --format json

Exit status: 0; 2 usage; 5 where the log cannot be read, or the answer not
written.)";
        case Command::report:
            return R"(Nothing is contacted. Reports that are merged are of one command, and each host
stands in one of them alone. Hosts keep the order of the files; verdict, counts
and exit status are of them all.

Examples:
  cleanslate report show nightly.json
  cleanslate report show nightly.json --format html=nightly.html -q
  cleanslate report merge rack*.json --format json=fleet.json --format text
  ssh head cat nightly.json | cleanslate report show - --format csv
  cleanslate report merge rack*.json --clean-hosts slurm=nodes --expect-hosts 16

Exit status: as the sweep itself, of all hosts: 0 all clean; 1 some dirty or
sick; 2 usage, or a file that cannot be read or is no report; 3 some unknown or
unreachable; see `cleanslate --help` for the others.)";
        case Command::history:
            return R"(Every check and clear is kept, unless it says --no-history. Without an action,
the sweeps, the newest first. `cleanslate history ACTION --help` has an action's
options. Times are in UTC.

Examples:
  cleanslate history --since 7d
  cleanslate history --host 'gpu[01-04]'
  cleanslate history diff

Exit status: 0; 2 usage, and where there is no such sweep or no history; 5 where
it cannot be read, or the answer not written.)";
        case Command::drain_list:
            return R"(A line of scontrol for each reason, with the nodes that have it. Without --apply
nothing is run. A node's reason is replaced, whoever drained it; nothing here
resumes one. Several reports are those of shards, and merged.

Examples:
  cleanslate drain-list nightly.json
  cleanslate drain-list shard-*.json --verdicts dirty,sick,unknown --apply

Exit status: 0, also where there is nothing to drain; 2 usage, or a file that
cannot be read or is no report; 5 where a line failed, or a name is none for
Slurm.)";
        case Command::config:
            return R"(As a config file would have it: what nobody has set stands behind a #. Options
win over the environment, that over ~/.config/cleanslate/config.yaml, and that
over /etc/cleanslate/config.yaml. docs/config.md lists the keys.

Examples:
  cleanslate config
  cleanslate config --config ./mine.yaml --format json

Exit status: 0; 2 where a config file is broken, with its place; 5 where the
answer could not be written.)";
        case Command::completion:
            return R"(The package has it in place for each of the three. Hosts and groups come from
the inventory that -i names, else $CLEANSLATE_INVENTORY or the config file, if
that is a file or a folder of files; no program is run for them.

Examples:
  source <(cleanslate completion bash)
  cleanslate completion zsh >~/.zfunc/_cleanslate     # a folder of $fpath
  cleanslate completion fish >~/.config/fish/completions/cleanslate.fish

Exit status: 0; 2 usage.)";
        case Command::complete:
            return "";
    }
    return "";
}

std::string_view description_of(HistoryAction action) {
    switch (action) {
        case HistoryAction::list:
            return "";
        case HistoryAction::show:
            return "A sweep's report, in any form";
        case HistoryAction::diff:
            return "What has changed between two sweeps";
        case HistoryAction::top:
            return "Who leaves most behind: users, commands, hosts";
        case HistoryAction::prune:
            return "Let go of old sweeps";
    }
    return "";
}

std::string_view footer_of(HistoryAction action) {
    switch (action) {
        case HistoryAction::list:
            return "";
        case HistoryAction::show:
            return R"(Nothing is contacted: it is the report that the sweep ended with.

Examples:
  cleanslate history show last
  cleanslate history show 37 --format html=sweep37.html
  cleanslate history show 37 --clean-hosts -

Exit status: 0; 2 where there is no such sweep; 5 where it cannot be read, or
the report not written.)";
        case HistoryAction::diff:
            return R"(Two sweeps are compared in the order in which they ended: newly dirty, newly
clean, still dirty and since when, GPUs swapped, ...; where their inventory or
limit differ, the hosts of both. --format json: schema cleanslate.diff/1.

Examples:
  cleanslate history diff
  cleanslate history diff 30 37 --format json

Exit status: 0, whatever has changed; 2 where there is no such sweep; 5 where
the history cannot be read, or the answer not written.)";
        case HistoryAction::top:
            return R"(By host-nights: a host on which one left a process on a GPU, on one day (UTC).

Examples:
  cleanslate history top
  cleanslate history top --since 90d --last 5

Exit status: 0; 2 usage, or no history; 5 where it cannot be read, or the answer
not written.)";
        case HistoryAction::prune:
            return R"(In steps, each of which leaves the rest whole; the file shrinks. Numbers of
sweeps are never used again.

Examples:
  cleanslate history prune --keep 90d --dry-run
  cleanslate history prune --keep 90d --keep-last 10

Exit status: 0; 2 usage, or no history; 5 where it cannot be read or written.)";
    }
    return "";
}

std::string_view program_version() { return CLEANSLATE_VERSION; }

std::string version_text() {
    return std::string("cleanslate " CLEANSLATE_VERSION "\n") + agentless::ssh_library_versions();
}

}  // namespace cleanslate::controller
