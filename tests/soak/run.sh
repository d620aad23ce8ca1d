#!/bin/bash
# An hour of sweeps, or so many minutes, over 1,000 simulated hosts of which one in ten has a fault, each kind among them.
# Usage: run.sh BUILD_FOLDER MINUTES    (with soak/soak and fleet/simfleet in it; as root)
set -euo pipefail
build=$(cd "${1:?usage: run.sh BUILD_FOLDER MINUTES}" && pwd)
minutes=${2:?usage: run.sh BUILD_FOLDER MINUTES}
[ "$(id -u)" -eq 0 ] || { echo "soak: as root, please: hosts that drop SYNs need it" >&2; exit 1; }
ulimit -n "$(ulimit -H -n)"

work=$(mktemp -d)
server=
clean_up() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

shares=()
for kind in black_hole refused no_banner hang_login deny hang_exec cut_survey no_end garbage slow dirty stubborn sick \
    lost_mid_kill; do
    shares+=(--share "$kind=0.7")
done
"$build/fleet/simfleet" "$work" --hosts 1000 "${shares[@]}" </dev/null >"$work.log" 2>&1 &
server=$!
until [ -e "$work/ready" ]; do
    kill -0 "$server" 2>/dev/null || { echo "soak: the simulated fleet did not start: $(cat "$work.log")" >&2; exit 1; }
    sleep 0.1
done
rm -f "$work.log"
printf 'soak: %s of 1000 hosts have a fault\n' "$(grep -vc healthy "$work/kinds.txt" || true)"
"$build/soak/soak" "$work" $((minutes * 60))
