#!/bin/bash
# What an inventory of 100,000 hosts costs: CPU time and peak memory of `cleanslate hosts`, which loads it, selects and
# prints the names. As ranges, as bare names, and with two variables a host; every host, and a part of them.
# Usage: inventory.sh BUILD_FOLDER    (with cleanslate and bench/measure in it)
set -euo pipefail
export LC_ALL=C

build=$(cd "${1:?usage: inventory.sh BUILD_FOLDER}" && pwd)
program=$build/cleanslate
meter=$build/bench/measure
rounds=5
most_mb=150
for needed in "$program" "$meter"; do
    [ -x "$needed" ] || { echo "inventory: $needed is not built" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

begin='all:\n  hosts:\n'
# shellcheck disable=SC2059  # the text is ours
{
    printf "$begin    'r[0001-1000]n[001-100]':\n" >"$work/ranges"
    printf "$begin" >"$work/names"
    printf "$begin" >"$work/variables"
}
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "    gpu%06d:\n", i }' >>"$work/names"
awk 'BEGIN {
    for (i = 0; i < 100000; i++)
        printf "    gpu%06d:\n      ansible_host: 10.%d.%d.%d\n      gpus: 8\n", i, i / 65536, i / 256 % 256, i % 256
}' >>"$work/variables"

failed=0
# measure FIGURE FILE LIMIT HOSTS BAR
measure() {
    local round
    : >"$work/rows"
    for ((round = 1; round <= rounds; round++)); do
        "$meter" "$work/rows" "$program" hosts -i "$work/$2" -l "$3" >"$work/out"
        [ "$(wc -l <"$work/out")" -eq "$4" ] || { echo "inventory: not $4 hosts" >&2; exit 1; }
    done
    awk '{ print $2 + $3, $4 * 1024 / 1e6 }' "$work/rows" | sort -g |
        awk -v figure="$1" -v bar="$5" -v most="$most_mb" '
            { cpu[NR] = $1; if ($2 > peak) peak = $2 }
            END {
                middle = cpu[int((NR + 1) / 2)]
                met = middle <= bar && peak <= most
                printf "  %-46s %7.3f s  (%.3f to %.3f), bar %.2f s; peak RSS %.0f MB, bar %d MB: %s\n", figure, middle,
                    cpu[1], cpu[NR], bar, peak, most, met ? "met" : "NOT MET"
                exit !met
            }' || failed=1
}

printf 'inventory of 100,000 hosts, load and select: CPU time, middle of %d (least to greatest)\n' "$rounds"
measure 'as ranges, all' ranges all 100000 0.3
measure 'as ranges, every second rack' ranges 'r[0001-1000/2]n[001-100]' 50000 0.3
measure 'bare names, all' names all 100000 1
measure 'bare names, gpu0*,!*7' names 'gpu0*,!*7' 90000 1
measure 'two variables each, all' variables all 100000 2.5
measure 'two variables each, gpu0*,!*7' variables 'gpu0*,!*7' 90000 2.5
exit "$failed"
