# shellcheck shell=sh
# Runs the operator's command: command.cpp appends cleanslate_command (a function with the command in it) and the call
# of cleanslate_run with the seconds that it may take and the nonce of the end record.

# pid:start of the process $1 and of everything below it, topmost first, as /proc has them now.
cleanslate_tree() {
    cat /proc/[0-9]*/stat 2>/dev/null | LC_ALL=C awk -v top="$1" '
        # A name may hold newlines, but it is short, and what stands behind it is long and on one line.
        { text = text $0 }
        length($0) < 80 { next }
        { $0 = text; text = ""; pid = $1 + 0; sub(/^.*\) /, ""); parent[pid] = $2; start[pid] = $20 }
        function list(p, q) { print p ":" start[p]; for (q in parent) if (parent[q] == p) list(q) }
        END { list(top) }'
}

# Signals those of the pid:start list that are still the same process.
cleanslate_signal() {
    for victim in $2; do
        stat=$(cat "/proc/${victim%%:*}/stat" 2>/dev/null) || continue
        # shellcheck disable=SC2086
        set -- "$1" "$2" ${stat##*\) }
        [ "${22}" = "${victim##*:}" ] && kill -s "$1" "${victim%%:*}" 2>/dev/null
    done
}

# A time limit of the host's own: a connection that is gone ends nothing. It naps by the second, since TERM can come
# before the pid of a nap is known, and what is left behind then must not last.
cleanslate_watch() {
    trap 'exit 0' TERM
    left=$2
    while [ "$left" -gt 0 ]; do
        sleep 1 &
        wait $!
        left=$((left - 1))
    done
    trap '' TERM
    victims=$(cleanslate_tree "$1")
    cleanslate_signal TERM "$victims"
    sleep 1
    cleanslate_signal KILL "$victims"
}

cleanslate_run() {
    ( cleanslate_command ) </dev/null & job=$!
    cleanslate_watch "$job" "$1" </dev/null >/dev/null 2>&1 & watch=$!
    wait "$job"; status=$?
    [ "$status" -gt 255 ] && status=$((status - 128))  # ksh counts signals from 256
    kill -TERM "$watch" 2>/dev/null
    wait "$watch" 2>/dev/null
    printf '\nend %s %s\n' "$2" "$status"
    exit "$status"
}
