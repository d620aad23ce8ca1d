#!/bin/bash
# slurm_test.sh BUILD PART: the scripts of packaging/slurm and cleanslate's shards under a real Slurm (cluster.sh).
# Parts: jobs (prolog, epilog, health check), gpus (the same where Slurm gives out GPUs; --slurm-job), array (shards,
# merging). Ends with 77 where that cannot be had.
set -euo pipefail
build=$(cd "${1:?usage: slurm_test.sh BUILD PART}" && pwd)
part=${2:?usage: slurm_test.sh BUILD PART}
# shellcheck source=tests/slurm/cluster.sh
. "$(dirname "$0")/cluster.sh"

[ "$(id -u)" -eq 0 ] || skip "simulated hosts need root"
find_slurm
work=$(mktemp -d /var/tmp/cleanslate-slurm.XXXXXX)
clean_up() {
    if [ -e "$work/fleet/keeper" ]; then "$build/fleet/simhost" down "$work/fleet" || :; fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 143' TERM INT HUP
chmod 755 "$work"
# Where jobs of any user leave word.
mkdir -m 1777 "$work/word"
copy_slurm
free_ports
write_configuration "$part"

good=true
wrong() { echo "WRONG: $*"; good=false; }
expect() { # WHAT WANTED FOUND, a pattern of the shell's
    # shellcheck disable=SC2053
    [[ $3 == $2 ]] || wrong "$1: wanted $2, found $3"
}
has() { [ -s "$work/word/$1" ]; }
alive() { on gpu01 kill -0 "$(cat "$work/word/$1")" 2>/dev/null; }
job() { # NAME LINES: a job's script
    printf '#!/bin/sh\n%s\n' "$2" >"$work/word/$1.sh"
    chmod 755 "$work/word/$1.sh"
    echo "$work/word/$1.sh"
}
alice=1001 bob=1002

# With more time than a node needs that is not this machine.
settings() { printf 'STATE=%s\nLOG=%s\nDEADLINE=60s\nLIMIT=90\n%s\n' "$work/log" "$work/log/scripts" "$1" >"$work/etc/cleanslate/settings"; }
logged() { { cat "$work/log/scripts"; on gpu02 cat /var/log/cleanslate-slurm.log; } 2>/dev/null || :; }
forget_log() { rm -f "$work/log/scripts"; on gpu02 rm -f /var/log/cleanslate-slurm.log; }

hold() { echo "$source_copy/hold.py $*"; }
is_draining() { [[ $(node_state "$1") == drain* ]]; }
# A job that is put back into the queue just then forgets it.
is_cancelled() { is_over "$1" || { slurm scancel "$1"; return 1; }; }
is_pending() { [ "$(slurm squeue -h -j "$1" -o %T)" = PENDING ]; }
start_jobs() {
    source_copy=$work/bin
    cp "$source/tests/slurm/hold.py" "$source_copy/"
    chmod 755 "$source_copy/hold.py"
    install_scripts
    start_cluster
}

# shellcheck source=tests/slurm/jobs.sh
# shellcheck source=tests/slurm/gpus.sh
# shellcheck source=tests/slurm/array.sh
. "$(dirname "$0")/$part.sh"
"part_$part"
$good || exit 1
echo "as expected"
