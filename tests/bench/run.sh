#!/bin/bash
# The benchmarks, on simulated hosts (tests/fleet/README.md, tests/fleet/scale/README.md): each figure with the most it may
# be and with what else people use beside it, all measured in one run. docs/performance.md keeps a table of them.
# Usage: run.sh BUILD_FOLDER [SECTION...]   (sections: cost jumps scale faults trips start clear inventory report history remote; all)
# Status 1 where a bar is not met. As root, after `ninja benchmarks`.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_FOLDER [SECTION...]}" && pwd)
shift
[ $# -gt 0 ] || set -- cost jumps scale faults trips start clear inventory report history remote
# shellcheck source=tests/bench/common.sh
. "$here/common.sh"
# shellcheck source=tests/bench/fleet.sh
. "$here/fleet.sh"
# shellcheck source=tests/bench/clear.sh
. "$here/clear.sh"
for program in cleanslate fleet/simhost fleet/simfleet bench/measure; do
    [ -x "$build/$program" ] || die "$build/$program is not built (ninja benchmarks; simfleet needs libssh-dev)"
done
command -v fuser >/dev/null || die "no fuser (Debian: psmisc)"
[ "$(id -u)" -eq 0 ] || die "simulated hosts need root (namespaces, mounts, sshd)"

# shellcheck disable=SC2034  # read by what is sourced
rounds=${CLEANSLATE_BENCH_ROUNDS:-5}
work=$(mktemp -d)
# shellcheck disable=SC2034
fleet=$work/fleet
# shellcheck disable=SC2317  # run by the trap
clean_up() {
    jump_down
    end_simulation
    hosts_down
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$work/home"
export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
unset SSH_AUTH_SOCK
ulimit -n "$(ulimit -H -n)"

missed=0
machine
for section in "$@"; do
    case $section in
        cost) bench_cost ;;
        jumps) heading "Behind a jump host, real sshd at both ends"; "$build/bench/jump_bench" || missed=1 ;;
        scale) bench_scale ;;
        faults) bench_faults ;;
        trips) bench_round_trips ;;
        start) bench_start_up ;;
        clear) bench_clear ;;
        inventory) "$here/inventory.sh" "$build" || missed=1 ;;
        report) "$build/bench/report_bench" || missed=1 ;;
        history) "$build/bench/history_bench" || missed=1 ;;
        remote) "$here/remote_cost.sh" "$build" || missed=1 ;;
        *) die "no such section: $section" ;;
    esac
done
printf '\nload at the end: %s\n' "$(cut -d ' ' -f 1 /proc/loadavg)"
exit "$missed"
