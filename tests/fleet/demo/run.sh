#!/bin/bash
# The demo: a fleet of simulated GPU hosts, dirty in every way that the story has, cleared by cleanslate and judged
# from outside. Ends with 0 only if every host ended as its description expects; leaves nothing running.
#   run.sh BUILD_FOLDER    (with cleanslate and fleet/simhost in it)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_FOLDER}" && pwd)
simhost=$build/fleet/simhost
for program in "$build/cleanslate" "$simhost"; do
    [ -x "$program" ] || { echo "demo: $program is not built" >&2; exit 1; }
done
[ "$(id -u)" -eq 0 ] || { echo "demo: simulated hosts need root (namespaces, mounts, sshd)" >&2; exit 1; }

work=$(mktemp -d)
fleet=$work/fleet
clean_up() {
    if [ -e "$fleet/keeper" ]; then "$simhost" down "$fleet"; fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Nothing of the user's own ssh and cleanslate settings has a say here, and nothing is left in the home.
mkdir "$work/home"
export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config CLEANSLATE_INVENTORY=$fleet/inventory.yaml
unset SSH_AUTH_SOCK

good=true
title() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || title() { printf '\n%s\n' "$*"; }
note() { printf '# %s\n' "$*"; }
wrong() { printf 'NOT AS EXPECTED: %s\n' "$*"; good=false; }

# cleanslate WANTED_STATUS ARGUMENTS: shows the command, runs it, compares its exit status.
cleanslate() {
    local wanted=$1 status=0
    shift
    printf '$ cleanslate %s\n' "$*"
    "$build/cleanslate" "$@" --known-hosts "$fleet/known_hosts" || status=$?
    printf '# exit status %d\n' "$status"
    [ "$status" -eq "$wanted" ] || wrong "exit status $status, expected $wanted"
}

on() { # HOST COMMAND
    printf '$ ssh root@%s "%s"\n' "$1" "$2"
    ssh -F "$fleet/ssh_config" "$1" "$2" </dev/null || printf '# exit status %d\n' "$?"
}

# Host, process, pid and start time of everything that the descriptions name.
processes() { "$simhost" ps "$fleet" | awk -F '\t' '$2 != "-" { print $1, $2, $3, $5 }'; }

title "1. Ten hosts are started, each with its own sshd, processes, /proc, /dev and nvidia-smi"
"$simhost" up "$fleet" --with $$ "$here/hosts"
for description in "$here"/hosts/*.host; do
    name=$(basename "$description" .host)
    printf '%s  %s\n' "$name" "$(sed -n 's/^about  *//p' "$description")"
done
"$simhost" ps "$fleet" >"$work/before.tsv"
processes >"$work/before"

title "2. What operators type does not help: gpu05 after a kill by name"
on gpu05 "pkill -9 -f '[s]glang'; pkill -9 python3; sleep 1; nvidia-smi --query-gpu=index,memory.used --format=csv,noheader"
note "GPU 2 is still full: its owner is dead, and a sleep that no name finds keeps the memory."
on gpu05 "nvidia-smi --query-compute-apps=pid,used_memory,process_name --format=csv"

title "3. check: look only"
cleanslate 3 check -l all
note "gpu10 cannot be reached, so the sweep ends with 3: what was not seen is never called clean."

title "4. clear --dry-run: what would be ended, and what is left alone"
cleanslate 3 clear -l all --dry-run
processes >"$work/after-dry-run"
if cmp -s "$work/before" "$work/after-dry-run"; then
    note "From outside: every process is the one that it was."
else
    wrong "a dry run changed something:"
    diff "$work/before" "$work/after-dry-run" || true
fi

title "5. clear"
cleanslate 3 clear -l all --yes
note "Left as they are: the Slurm job, nvidia-persistenced, the GPU that needs a reset, the unit that restarts its server."

title "6. check again"
cleanslate 3 check -l all
"$build/cleanslate" check -l all --format json --known-hosts "$fleet/known_hosts" >"$work/report.json" 2>/dev/null || true

title "7. Judged from outside, by pids and start times and by the memory in use"
"$simhost" judge "$fleet" "$work/before.tsv" "$work/report.json" || good=false

title "8. The fleet is taken down"
"$simhost" ps "$fleet" | cut -f 4,5 >"$work/outer"
"$simhost" down "$fleet"
left=0
while read -r pid start; do
    # Field 22 of stat, counted from behind the name: another process may have got the pid since.
    now=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d ' ' -f 20) || true
    if [ "$now" = "$start" ]; then left=$((left + 1)); fi
done <"$work/outer"
if [ "$left" -eq 0 ] && [ ! -e "$fleet" ]; then note "Nothing is left running."; else wrong "$left processes are left"; fi

if $good; then printf '\nEvery host ended as expected.\n'; else printf '\nThe demo did not end as expected.\n'; exit 1; fi
