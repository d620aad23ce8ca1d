# What the benchmarks share: measuring a command, the middle and spread of rounds, and rows with a figure's bar. Sourced by
# run.sh, which sets build, work and here.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034  # work and build are run.sh's, and missed is for it

die() { printf 'bench: %s\n' "$*" >&2; exit 1; }

# timed FILE COMMAND...: appends "REAL USER SYSTEM PEAK_KIB" of COMMAND to FILE. Its output is in $work/out and $work/err.
timed() {
    local file=$1
    shift
    "$build/bench/measure" "$file" "$@" >"$work/out" 2>"$work/err"
}

# From a file of rows: the middle, least and greatest of the sum of its columns FROM to TO, times FACTOR.
spread() { # FILE FROM TO FACTOR
    awk -v from="$2" -v to="$3" -v by="$4" '{ sum = 0; for (i = from; i <= to; i++) sum += $i; print sum * by }' "$1" |
        sort -g | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)], all[1], all[NR] }'
}
real() { spread "$1" 1 1 1; }
cpu() { spread "$1" 2 3 "$2"; }              # FILE FACTOR
peak_mib() { spread "$1" 4 4 0.0009765625; } # FILE
middle() { printf '%s' "${1%% *}"; }

heading() { printf '\n%s\n' "$*"; }

# row LABEL "MIDDLE LEAST GREATEST" UNIT [BAR]: the bar is the most that the middle may be.
row() {
    local middle least greatest
    read -r middle least greatest <<<"$2"
    awk -v label="$1" -v middle="$middle" -v least="$least" -v greatest="$greatest" -v unit="$3" -v bar="${4:-}" 'BEGIN {
        line = sprintf("  %-62s %9.2f %-4s (%.2f to %.2f)", label, middle, unit, least, greatest)
        if (bar != "") line = line sprintf("  bar <= %s %s: %s", bar, unit, middle <= bar + 0 ? "met" : "NOT MET")
        print line
        exit line ~ /NOT MET/ }' || missed=1
}

# quotient LABEL OVER UNDER [BAR [at-least]]: a ratio of two middles of this run.
quotient() {
    awk -v label="$1" -v over="${2%% *}" -v under="${3%% *}" -v bar="${4:-}" -v sense="${5:-at-most}" 'BEGIN {
        value = under > 0 ? over / under : 0
        line = sprintf("  %-62s %9.2f", label, value)
        met = sense == "at-least" ? value >= bar + 0 : value <= bar + 0
        if (bar != "") line = line sprintf("  bar %s %s: %s", sense == "at-least" ? ">=" : "<=", bar, met ? "met" : "NOT MET")
        print line
        exit line ~ /NOT MET/ }' || missed=1
}

machine() {
    printf 'machine: %s, %s cores, %s MiB, Linux %s, load %s\n' \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed -n 1p)" "$(nproc)" \
        "$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" "$(uname -r)" "$(cut -d ' ' -f 1 /proc/loadavg)"
    "$build/cleanslate" --version | paste -s -d ' '
    ssh -V 2>&1
    local package
    for package in pdsh clustershell pssh psmisc; do
        dpkg-query -W -f '${Package} ${Version}\n' "$package" 2>/dev/null || true
    done
}
