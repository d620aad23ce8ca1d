#!/bin/bash
# Checks and clears by turns, for so many minutes and at least eight times each, over 1,000 simulated hosts of which one in
# ten has a fault, each kind among them; what a clear ended has come back before the next check.
# Usage: run.sh BUILD_FOLDER MINUTES    (with soak/soak and fleet/simfleet in it)
set -euo pipefail
build=$(cd "${1:?usage: run.sh BUILD_FOLDER MINUTES}" && pwd)
minutes=${2:?usage: run.sh BUILD_FOLDER MINUTES}
redirty=10 # seconds: longer than a clear takes from the end of a worker to its verdict
die() { printf 'soak: %s\n' "$*" >&2; exit 1; }
for program in soak/soak fleet/simfleet; do [ -x "$build/$program" ] || die "$build/$program is not built"; done
ulimit -n "$(ulimit -H -n)"

work=$(mktemp -d)
# The fleet ends with its standard input, and so with this script, however that ends.
fleet_end() { [ -z "${alive:-}" ] || { exec {alive}>&-; kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; }; }
trap 'fleet_end; rm -rf "$work" "$work.log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

shares=()
for kind in black_hole refused no_banner hang_login deny hang_exec cut_survey no_end garbage slow dirty stubborn sick \
    lost_mid_kill; do
    shares+=(--share "$kind=0.7")
done
exec {alive}> >(exec "$build/fleet/simfleet" "$work" --hosts 1000 --port 0 --redirty "${redirty}s" "${shares[@]}" \
    >"$work.log" 2>&1)
server=$!
for ((i = 0; i < 600; i++)); do
    [ ! -e "$work/ready" ] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
done
[ -e "$work/ready" ] || die "the simulated fleet did not start: $(cat "$work.log")"
printf 'soak: %s of 1000 hosts have a fault\n' "$(wc -l <"$work/kinds.txt")"
"$build/soak/soak" "$work" $((minutes * 60)) "$redirty"
