#!/bin/bash
# check and clear of 200 simulated hosts in four shards, some of which fail in each way, under ThreadSanitizer: no data race,
# and the verdicts that the fleet's kinds must have. Usage: over_fleet.sh BUILD_FOLDER
set -euo pipefail
build=$(cd "${1:?usage: over_fleet.sh BUILD_FOLDER}" && pwd)
die() { printf 'over_fleet: %s\n' "$*" >&2; exit 1; }
skip() { printf 'skipped: %s\n' "$*"; exit 77; } # ctest's SKIP_RETURN_CODE
[ -x "$build/fleet/simfleet" ] || skip "simfleet is not built (Debian: libssh-dev)"
command -v ssh-keygen >/dev/null || skip "no ssh-keygen (Debian: openssh-client)"

work=$(mktemp -d)
# The fleet ends with its standard input, and so with this script, however that ends.
fleet_end() { [ -z "${alive:-}" ] || { exec {alive}>&-; kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; }; }
trap 'fleet_end; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

shares=()
for kind in refused no_banner hang_login deny hang_exec cut_survey no_end garbage dirty stubborn sick; do
    shares+=(--share "$kind=2")
done
mkdir "$work/fleet"
# It is no part of what is looked at.
exec {alive}> >(TSAN_OPTIONS=report_bugs=0 exec "$build/fleet/simfleet" "$work/fleet" --hosts 200 --port 0 \
    "${shares[@]}" >"$work/log" 2>&1)
server=$!
for ((i = 0; i < 600; i++)); do
    [ ! -e "$work/fleet/ready" ] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
done
[ -e "$work/fleet/ready" ] || die "the simulated fleet did not start: $(cat "$work/log")"

export HOME=$work XDG_STATE_HOME=$work/state
over() { # STATUS VERB OPTION...
    local expected=$1 status=0
    shift
    "$build/cleanslate" "$@" -i "$work/fleet/inventory.yaml" -l all --known-hosts "$work/fleet/known_hosts" \
        --identity "$work/fleet/id" -F none --threads 4 --connect-timeout 30s --timeout 30s --format json \
        --format "jsonl=$work/events" >"$work/out" 2>"$work/err" || status=$?
    if grep -q 'ThreadSanitizer' "$work/err"; then cat "$work/err" >&2; die "$1: a data race"; fi
    [ "$(grep -c '^{"event":"host_finished"' "$work/events")" = 200 ] || die "$1: not each host's end is an event"
    [ "$status" -eq "$expected" ] || { tail -n 5 "$work/err" >&2; die "$1 ended with $status, not $expected"; }
}
verdicts() { grep -o '^{"name":"[^"]*","address":"[^"]*","port":[0-9]*,"verdict":"[a-z]*"' "$work/out" | grep -c "\"$1\"" || true; }

over 3 check
[ "$(verdicts clean)/$(verdicts dirty)/$(verdicts sick)/$(verdicts unknown)/$(verdicts unreachable)" = 156/8/4/16/16 ] ||
    die "check: $(verdicts clean) clean, $(verdicts dirty) dirty, $(verdicts sick) sick, $(verdicts unknown) unknown, $(verdicts unreachable) unreachable"
over 3 clear --yes --settle 1s
[ "$(verdicts clean)" = 164 ] || die "clear: $(verdicts clean) clean, not 164"
echo "over_fleet: no data race"
