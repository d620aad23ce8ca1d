#!/bin/bash
# The benchmarks, on simulated hosts (tests/fleet/README.md), as ratios of what is measured in one run, side by side:
#   1. a leaked worker ended and the GPUs proven clean: cleanslate against what operators type over ssh;
#   2. the client's CPU time a host: `cleanslate check` against one `ssh HOST true` for each host.
# Usage: run.sh BUILD_FOLDER    (with cleanslate and fleet/simhost in it; as root)
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_FOLDER}" && pwd)
leak=$here/../fleet/hosts/leak.host
idle=$here/../fleet/hosts/clean.host
rounds=5
hosts=32
settle=2     # seconds: cleanslate's default
sleeping=5   # seconds: the recipe's
for program in "$build/cleanslate" "$build/fleet/simhost"; do
    [ -x "$program" ] || { echo "bench: $program is not built" >&2; exit 1; }
done
[ "$(id -u)" -eq 0 ] || { echo "bench: simulated hosts need root (namespaces, mounts, sshd)" >&2; exit 1; }

work=$(mktemp -d)
fleet=$work/fleet
clean_up() {
    if [ -e "$fleet/keeper" ]; then "$build/fleet/simhost" down "$fleet"; fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$work/home"
export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config CLEANSLATE_INVENTORY=$fleet/inventory.yaml
unset SSH_AUTH_SOCK

die() { printf 'bench: %s\n' "$*" >&2; exit 1; }
up() { "$build/fleet/simhost" up "$fleet" --with $$ "$@"; }
down() { "$build/fleet/simhost" down "$fleet"; }
cleanslate() { "$build/cleanslate" "$@" --known-hosts "$fleet/known_hosts"; }

# timed FILE COMMAND...: appends "REAL USER SYSTEM" seconds of COMMAND and its children to FILE.
timed() {
    local file=$1 TIMEFORMAT='%3R %3U %3S'
    shift
    { time "$@" >"$work/out" 2>"$work/err"; } 2>>"$file"
}

# From a file of rows: the middle, least and greatest of the sum of its columns FROM to TO, times FACTOR.
spread() { # FILE FROM TO FACTOR
    awk -v from="$2" -v to="$3" -v by="$4" '{ sum = 0; for (i = from; i <= to; i++) sum += $i; print sum * by }' "$1" |
        sort -g | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)], all[1], all[NR] }'
}

row() { # LABEL "MIDDLE LEAST GREATEST" UNIT
    local middle least greatest
    read -r middle least greatest <<<"$2"
    printf '  %-58s %8.2f %s  (%.2f to %.2f)\n' "$1" "$middle" "$3" "$least" "$greatest"
}

ratio() { # LABEL "MIDDLE ..." "MIDDLE ..."
    awk -v label="$1" -v ours="${2%% *}" -v theirs="${3%% *}" \
        'BEGIN { printf "  %-58s %8.2f\n", label, (ours > 0 ? theirs / ours : 0) }'
}

machine() {
    printf 'machine: %s, %s cores, Linux %s, load %s\n' \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed -n 1p)" "$(nproc)" "$(uname -r)" \
        "$(cut -d ' ' -f 1 /proc/loadavg)"
    "$build/cleanslate" --version | paste -s -d ' '
    ssh -V 2>&1
}

# What operators type: kill whatever has a device file open, wait for the driver, look.
# shellcheck disable=SC2016  # it is the host's shell that expands this
recipe='pids=$(find /proc/[0-9]*/fd -lname "/dev/nvidia*" 2>/dev/null | cut -d / -f 3 | sort -u)
kill -9 $pids; sleep '$sleeping'; nvidia-smi --query-gpu=index,memory.used --format=csv,noheader,nounits'

by_ssh() { ssh -F "$fleet/ssh_config" "$1" "$recipe" </dev/null; }
by_cleanslate() { cleanslate clear -l "$1" -p by-holder --settle "${settle}s" --yes --format json; }

bench_clear() {
    local round host
    up --many $((2 * rounds)) "$leak"
    for ((round = 1; round <= rounds; round++)); do
        # Hosts by turns, so that a busy moment of the machine does not fall on one side only.
        host=$(printf 'leak-%02d' $((2 * round - 1)))
        timed "$work/recipe" by_ssh "$host" || die "the recipe failed on $host: $(cat "$work/err")"
        awk -F ', *' '$2 > 100 { full = 1 } END { exit full || NR != 8 }' "$work/out" ||
            die "$host is not clean: $(cat "$work/out")"
        host=$(printf 'leak-%02d' $((2 * round)))
        timed "$work/clear" by_cleanslate "$host" || die "clear failed on $host: $(cat "$work/out" "$work/err")"
        grep -o '"seconds_to_clean":[0-9.]*' "$work/out" | cut -d : -f 2 >>"$work/to_clean"
    done
    down
    local recipe_s clear_s to_clean_s
    recipe_s=$(spread "$work/recipe" 1 1 1)
    clear_s=$(spread "$work/clear" 1 1 1)
    to_clean_s=$(spread "$work/to_clean" 1 1 1)
    printf '\n1. A leaked worker on 8 GPUs, one host at a time: seconds, middle of %d (least to greatest)\n' "$rounds"
    row "ssh HOST 'find | kill -9; sleep $sleeping; nvidia-smi'" "$recipe_s" s
    row "cleanslate clear -p by-holder --yes" "$clear_s" s
    row "  of it, first signal to first clean survey" "$to_clean_s" s
    printf '  %-58s %8.2f s\n' "  of it, settle: the second look comes so long after" "$settle"
    ratio "from start to verified clean, recipe / cleanslate" "$clear_s" "$recipe_s"
    ratio "without the sleep and without settle, recipe / cleanslate" \
        "$(awk -v fixed="$settle" '{ print $1 - fixed }' <<<"$clear_s")" \
        "$(awk -v fixed="$sleeping" '{ print $1 - fixed }' <<<"$recipe_s")"
}

each_by_ssh() { xargs -P "$hosts" -I HOST ssh -n -F "$fleet/ssh_config" "$@" HOST true <"$work/names"; }

bench_check() {
    local round ours theirs same
    up --many "$hosts" "$idle"
    "$build/cleanslate" hosts -l all >"$work/names"
    [ "$(wc -l <"$work/names")" -eq "$hosts" ] || die "not $hosts hosts: $(cat "$work/names")"
    for ((round = 1; round <= rounds; round++)); do
        timed "$work/ssh" each_by_ssh || die "ssh failed: $(cat "$work/err")"
        timed "$work/same" each_by_ssh -o KexAlgorithms=curve25519-sha256 || die "ssh failed: $(cat "$work/err")"
        timed "$work/check" cleanslate check -l all || die "check failed: $(cat "$work/out" "$work/err")"
    done
    down
    local a_host
    a_host=$(awk -v n="$hosts" 'BEGIN { print 1000 / n }')
    theirs=$(spread "$work/ssh" 2 3 "$a_host")
    same=$(spread "$work/same" 2 3 "$a_host")
    ours=$(spread "$work/check" 2 3 "$a_host")
    printf '\n2. %d hosts of 8 GPUs at once: client CPU time a host, middle of %d (least to greatest)\n' "$hosts" "$rounds"
    row "xargs -P $hosts ssh HOST true" "$theirs" ms
    row "the same with cleanslate's key exchange, curve25519-sha256" "$same" ms
    row "cleanslate check, which asks for everything" "$ours" ms
    ratio "ssh / cleanslate" "$ours" "$theirs"
    ratio "ssh / cleanslate, same key exchange" "$ours" "$same"
    row "for scale, real time of all hosts: ssh, same key exchange" "$(spread "$work/same" 1 1 1)" s
    row "for scale, real time of all hosts: cleanslate check" "$(spread "$work/check" 1 1 1)" s
}

machine
bench_clear
bench_check
printf '\nload at the end: %s\n' "$(cut -d ' ' -f 1 /proc/loadavg)"
