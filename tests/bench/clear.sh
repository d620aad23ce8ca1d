# Benchmarks of a leaked worker on real simulated hosts (tests/fleet/README.md: real sshd, sh, processes and signals): from
# dirty to proven clean, beside what operators type. Sourced by run.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154  # work, build, here and rounds are run.sh's

release=0.15 # seconds: hosts/*.host
grace=2      # seconds: grace.yaml
settle=2     # seconds: cleanslate's default
sleeping=5   # seconds: the recipe's

# What operators type: kill whatever has a device file open, wait for the driver, look. fuser -k (package psmisc) sends its
# signals while it searches: the clock is read when it has ended, which is in the recipe's favour.
# shellcheck disable=SC2016  # it is the host's shell that expands this
recipe='fuser -k /dev/nvidia* >/dev/null 2>&1; date +"began %s.%N"; sleep '$sleeping'
nvidia-smi --query-gpu=index,memory.used --format=csv,noheader,nounits; date +"ended %s.%N"'

hosts_up() { "$build/fleet/simhost" up "$fleet" --with $$ "$@"; }
hosts_down() { if [ -e "$fleet/keeper" ]; then "$build/fleet/simhost" down "$fleet"; fi; }

on_host() { # FILE VERB HOST OPTION...
    local file=$1 verb=$2 host=$3
    shift 3
    timed "$file" "$build/cleanslate" "$verb" -i "$fleet/inventory.yaml" --known-hosts "$fleet/known_hosts" -l "$host" \
        --format json "$@" || die "$verb of $host: $(cat "$work/out" "$work/err")"
}

host_seconds() { grep '^{"name":' "$work/out" | grep -o '"seconds":[0-9.]*' | sed -n 1p | cut -d : -f 2; }

# On one line of FILE each: seconds from the first signal to the first clean survey; a survey's own seconds, which are those
# of a check less those of `true`, over sessions of their own.
clear_one() { # FILE HOST OPTION...
    local file=$1 host=$2 look answer
    on_host "$file" clear "$host" --yes "${@:3}"
    grep -o '"seconds_to_clean":[0-9.]*' "$work/out" | cut -d : -f 2 >>"$file.to_clean"
    on_host "$work/look" check "$host"
    look=$(host_seconds)
    on_host "$work/true" run "$host" --yes -- true
    answer=$(host_seconds)
    awk -v look="$look" -v answer="$answer" 'BEGIN { print look - answer }' >>"$file.survey"
}

rows_to_clean() { # LABEL FILE FIXED
    local survey to_clean
    survey=$(real "$2.survey")
    to_clean=$(real "$2.to_clean")
    row "$1: first signal to first clean survey" "$to_clean" s \
        "$(awk -v fixed="$3" -v survey="$(middle "$survey")" 'BEGIN { printf "%.2f", fixed + 3 * survey }')"
    row "  one survey of that host" "$survey" s
    row "  whole run, $settle s of it settling" "$(real "$2")" s
}

bench_clear() {
    local round host
    heading "6. A leaked worker on 8 GPUs, one host at a time: seconds, middle of $rounds (least to greatest)"
    hosts_up --many $((2 * rounds)) "$here/hosts/ends.host"
    for ((round = 1; round <= rounds; round++)); do
        # Hosts by turns, so that a busy moment of the machine does not fall on one side only.
        host=$(printf 'ends-%02d' $((2 * round - 1)))
        timed "$work/recipe" ssh -F "$fleet/ssh_config" "$host" "$recipe" || die "the recipe: $(cat "$work/err")"
        awk -F ', *' '/^[0-9]+,/ { rows++; full += $2 > 100 } END { exit full || rows != 8 }' "$work/out" ||
            die "$host is not clean: $(cat "$work/out" "$work/err")"
        awk '$1 == "began" { began = $2 } $1 == "ended" { printf "%.3f\n", $2 - began }' "$work/out" >>"$work/recipe.from_kill"
        clear_one "$work/ends" "$(printf 'ends-%02d' $((2 * round)))" -p by-holder
    done
    hosts_down
    hosts_up --many "$rounds" "$here/hosts/ignores.host"
    for ((round = 1; round <= rounds; round++)); do
        clear_one "$work/ignores" "$(printf 'ignores-%02d' "$round")" -p "$here/grace.yaml"
    done
    hosts_down
    rows_to_clean "ends on TERM, by-holder" "$work/ends" "$release"
    rows_to_clean "ignores TERM, grace $grace s" "$work/ignores" "$(awk -v a="$grace" -v b="$release" 'BEGIN { print a + b }')"
    row "ssh HOST 'fuser -k /dev/nvidia*; sleep $sleeping; nvidia-smi', whole run" "$(real "$work/recipe")" s
    row "  of it, from the end of the kill to the end of its query" "$(real "$work/recipe.from_kill")" s
    quotient "recipe / by-holder, from the first signal, less settle" "$(real "$work/recipe.from_kill")" \
        "$(real "$work/ends.to_clean")" 10 at-least
    quotient "recipe / by-holder, whole runs" "$(real "$work/recipe")" "$(real "$work/ends")"
}
