# Benchmarks over thousands of simulated hosts (tests/fleet/scale/): what a host costs the client, beside the tools that
# people use; growth; memory; hosts that do not answer; long round trips; start-up. Sourced by run.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154  # work, build and rounds are run.sh's

# simulate NAME OPTION...: a fleet in $work/NAME, at a free port, ready when this returns. One at a time. It ends with its
# standard input, and so with this script, however that ends.
simulate() {
    sim=$work/$1
    shift
    rm -rf "$sim"
    mkdir "$sim"
    exec {sim_input}> >(exec "$build/fleet/simfleet" "$sim" --port 0 "$@" >"$sim.log" 2>&1)
    sim_pid=$!
    local i
    for ((i = 0; i < 600; i++)); do
        [ ! -e "$sim/ready" ] || return 0
        kill -0 "$sim_pid" 2>/dev/null || break
        sleep 0.1
    done
    die "the simulated fleet did not start: $(cat "$sim.log")"
}

# What it served is in $sim/served.json then.
end_simulation() {
    [ -n "${sim_pid:-}" ] || return 0
    exec {sim_input}>&-
    kill "$sim_pid" 2>/dev/null || true
    wait "$sim_pid" 2>/dev/null || true
    sim_pid=
}

# The program over the simulated fleet; the report goes to $work/out.
over_fleet() { # FILE VERB OPTION...
    local file=$1 verb=$2
    shift 2
    timed "$file" "$build/cleanslate" "$verb" -i "$sim/inventory.yaml" --known-hosts "$sim/known_hosts" \
        --identity "$sim/id" "$@"
}

# expect STATUS: what the last command ended with.
expect() { [ "$1" -eq "$2" ] || die "ended with $1, not $2: $(tail -n 5 "$work/out" "$work/err")"; }

check_all() { # FILE OPTION...
    local status=0
    over_fleet "$1" check -l all "${@:2}" || status=$?
    expect "$status" 0
}

# The peers are given addresses, so that none of them looks up a name; the same key exchange as ours, at the same fan-out.
bench_cost() {
    local hosts=1000 fanout=64 round
    heading "1. A complete check of $hosts hosts against \`true\` by others, fan-out $fanout: client CPU a host, middle of $rounds"
    simulate cost --hosts "$hosts"
    local peer_config=$sim/ssh_config_addresses addresses=$sim/addresses
    [ "$(wc -l <"$addresses")" -eq "$hosts" ] || die "not $hosts addresses in $addresses"
    grep -q 'KexAlgorithms curve25519-sha256' "$peer_config" || echo 'KexAlgorithms curve25519-sha256' >>"$peer_config"
    for ((round = 1; round <= rounds; round++)); do
        check_all "$work/cost.ours" --fanout "$fanout"
        PDSH_SSH_ARGS_APPEND="-F $peer_config" timed "$work/cost.pdsh" pdsh -S -R ssh -f "$fanout" \
            -w "^$addresses" true || die "pdsh: $(tail -n 3 "$work/err")"
        timed "$work/cost.clush" clush -q -S -f "$fanout" -o "-F $peer_config" --hostfile "$addresses" true ||
            die "clush: $(tail -n 3 "$work/err")"
        timed "$work/cost.pssh" parallel-ssh -p "$fanout" -t 0 -x "-F $peer_config" -h "$addresses" true ||
            die "parallel-ssh: $(tail -n 3 "$work/err")"
    done
    local ours by best='' peer each
    by=$(awk -v n="$hosts" 'BEGIN { print 1000 / n }')
    ours=$(cpu "$work/cost.ours" "$by")
    row "cleanslate check: login, survey, verdict, report" "$ours" ms 3
    for peer in pdsh clush pssh; do
        each=$(cpu "$work/cost.$peer" "$by")
        row "$peer, true" "$each" ms
        best=$(printf '%s\n%s\n' "${best:-$each}" "$each" | sort -g | sed -n 1p)
    done
    quotient "best of them / cleanslate" "$best" "$ours" 8 at-least
    row "for scale, wall time of all: cleanslate check" "$(real "$work/cost.ours")" s
    for peer in pdsh clush pssh; do row "for scale, wall time of all: $peer" "$(real "$work/cost.$peer")" s; done
    bench_jump "$fanout" "$by" "$ours"
    end_simulation
}

# One real sshd in front of the same hosts, for as long as this takes.
bench_jump() { # FANOUT FACTOR DIRECT
    local round folder=$work/jump port
    mkdir -p "$folder" /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f "$folder/host_key"
    ssh-keygen -y -f "$sim/id" >"$folder/authorized_keys"
    jump_up "$folder"
    { cat "$sim/known_hosts"; printf '[127.0.0.1]:%s %s\n' "$port" "$(cut -d ' ' -f 1,2 "$folder/host_key.pub")"; } \
        >"$folder/known_hosts"
    for ((round = 1; round <= rounds; round++)); do
        check_all "$work/cost.jump" --fanout "$1" --known-hosts "$folder/known_hosts" -J "root@127.0.0.1:$port"
    done
    jump_down
    row "the same behind one jump host (a real sshd)" "$(cpu "$work/cost.jump" "$2")" ms
    quotient "behind one jump host / direct" "$(cpu "$work/cost.jump" "$2")" "$3" 1.5
}

# Sets port and jump_pid. It is ended with this script (jump_down in run.sh's clean_up), or by the kernel where that is killed.
jump_up() { # FOLDER
    local folder=$1 i
    for ((port = 23000 + $$ % 5000; ; port++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $folder/host_key" "PidFile $folder/pid" 'UsePAM no' \
        "AuthorizedKeysFile $folder/authorized_keys" 'StrictModes no' 'PermitRootLogin yes' 'MaxSessions 1000' \
        'LogLevel ERROR' >"$folder/sshd_config"
    setpriv --pdeathsig TERM "$(command -v sshd || echo /usr/sbin/sshd)" -D -f "$folder/sshd_config" -E "$folder/log" \
        </dev/null &
    jump_pid=$!
    for ((i = 0; i < 100; i++)); do
        [ ! -e "$folder/pid" ] || return 0
        sleep 0.05
    done
    die "the jump host's sshd did not start within 5 s: $(cat "$folder/log")"
}

jump_down() {
    [ -n "${jump_pid:-}" ] || return 0
    kill "$jump_pid" 2>/dev/null || true
    wait "$jump_pid" 2>/dev/null || true
    jump_pid=
}

bench_scale() {
    local hosts round most
    heading "2. Growth: client CPU a host; wall time and peak memory with the simulator on the same cores; middle of 3"
    for hosts in 100 1000 10000; do
        simulate "scale$hosts" --hosts "$hosts"
        for ((round = 1; round <= 3; round++)); do check_all "$work/scale.$hosts" --format json; done
        spread "$work/scale.$hosts" 2 3 "$(awk -v n="$hosts" 'BEGIN { print 1000 / n }')" >"$work/scale.each.$hosts"
        row "check of $hosts hosts, default fan-out: CPU a host" "$(cat "$work/scale.each.$hosts")" ms
        [ "$hosts" -ne 10000 ] || {
            row "check of $hosts hosts: wall time" "$(real "$work/scale.$hosts")" s 45
            row "check of $hosts hosts: peak memory" "$(peak_mib "$work/scale.$hosts")" MiB 238
        }
        end_simulation
    done
    bench_at_once 10000
    most=$(cut -d ' ' -f 1 "$work"/scale.each.* | sort -g | sed -n '$p')
    quotient "CPU a host, greatest / least of the three" "$most" \
        "$(cut -d ' ' -f 1 "$work"/scale.each.* | sort -g | sed -n 1p)" 1.2
}

# Hosts that answer are gone before the last one is reached. Hosts that take the command and are silent, and do not even read
# what they are sent, are there all at once until their time is over: the most that a host can cost, shown for scale.
bench_at_once() { # HOSTS
    local hosts=$1 status=0
    simulate atonce --hosts "$hosts"
    over_fleet "$work/at_once" check -l all --fanout "$hosts" --format json || status=$?
    expect "$status" 0
    end_simulation
    row "$hosts hosts at a fan-out of $hosts, one run: peak memory" "$(peak_mib "$work/at_once")" MiB 953
    row "  wall time" "$(real "$work/at_once")" s
    printf '  %s connections at once\n' "$(sed -n 's/.*"peak": \([0-9]*\).*/\1/p' "$sim/served.json")"
    simulate silent --hosts "$hosts" --share hang_exec=100
    status=0
    over_fleet "$work/silent" check -l all --fanout "$hosts" --connect-timeout 60s --timeout 90s --format json || status=$?
    expect "$status" 3
    end_simulation
    row "for scale, $hosts that read nothing and are silent for 90 s: peak memory" "$(peak_mib "$work/silent")" MiB
    quotient "  most connections at once / hosts" \
        "$(sed -n 's/.*"peak": \([0-9]*\).*/\1/p' "$sim/served.json")" "$hosts" 0.99 at-least
}

# slowest_clean FILE COUNT: appends the longest time in seconds that a clean host of the last JSON report took, of COUNT.
slowest_clean() {
    grep -o '^{"name":"[^"]*","address":"[^"]*","port":[0-9]*,"verdict":"clean","seconds":[0-9.]*' "$work/out" |
        awk -F : -v wanted="$2" '{ if ($NF + 0 > most) most = $NF + 0 } END { print most; exit NR != wanted }' >>"$1" ||
        die "not $2 hosts are clean"
}

# A host's login has a deadline of its own (--connect-timeout), before that of its survey (--timeout); a host that takes the
# command and is silent then costs its login as well: that is in the 5 % of the wall time's bar. Hosts that are silent
# have places while they are waited for, which the bar of the slowest clean host allows for.
bench_faults() {
    local hosts=1000 healthy round status
    healthy=$((hosts * 9 / 10))
    heading "3. $hosts hosts, 5 % of them drop SYNs, 5 % take the command and never answer; both deadlines 10 s; middle of 3"
    simulate healthy --hosts "$healthy"
    for ((round = 1; round <= 3; round++)); do
        check_all "$work/faults.healthy" --timeout 10s --connect-timeout 10s --format json
        slowest_clean "$work/slowest.healthy" "$healthy"
    done
    end_simulation
    simulate faults --hosts "$hosts" --share black_hole=5 --share hang_exec=5
    for ((round = 1; round <= 3; round++)); do
        status=0
        over_fleet "$work/faults.all" check -l all --timeout 10s --connect-timeout 10s --format json || status=$?
        expect "$status" 3
        slowest_clean "$work/slowest.all" "$healthy"
    done
    end_simulation
    row "wall time of $healthy healthy ones alone" "$(real "$work/faults.healthy")" s
    row "wall time of all" "$(real "$work/faults.all")" s \
        "$(awk -v healthy="$(middle "$(real "$work/faults.healthy")")" 'BEGIN { printf "%.2f", (healthy + 10) * 1.05 }')"
    row "the slowest clean host among healthy ones" "$(spread "$work/slowest.healthy" 1 1 1)" s
    row "the slowest clean host among all" "$(spread "$work/slowest.all" 1 1 1)" s "$(awk -v healthy="$(middle \
        "$(spread "$work/slowest.healthy" 1 1 1)")" 'BEGIN { printf "%.2f", 1.5 * healthy + 0.25 }')"
}

# The simulator's delay begins with the first byte: half a round trip of a real TCP connect is missing there
# (tests/fleet/scale/README.md), and is added.
bench_round_trips() {
    local round trip=0.2 name
    heading "4. One host at 100 ms each way: seconds, and round trips of $trip s, with the half of a connect that the simulator lacks"
    simulate far --hosts 1 --rtt 200ms
    for ((round = 1; round <= rounds; round++)); do
        check_all "$work/far.check"
        over_fleet "$work/far.clear" clear --yes -l all || die "clear: $(tail -n 3 "$work/err")"
        timed "$work/far.ssh" ssh -F "$sim/ssh_config_addresses" 127.64.0.1 true || die "ssh: $(cat "$work/err")"
    done
    end_simulation
    for name in check clear ssh; do
        awk -v half="$trip" '{ $1 += half / 2; print }' "$work/far.$name" >"$work/far.whole.$name"
    done
    row "cleanslate check" "$(real "$work/far.whole.check")" s
    quotient "  round trips (8 of a first command, 2 more)" "$(real "$work/far.whole.check")" "$trip" 10
    row "cleanslate clear that finds it clean" "$(real "$work/far.whole.clear")" s
    quotient "  clear that finds it clean / check" "$(real "$work/far.whole.clear")" "$(real "$work/far.whole.check")" 1.05
    row "ssh HOST true" "$(real "$work/far.whole.ssh")" s
    quotient "  round trips" "$(real "$work/far.whole.ssh")" "$trip"
}

# Of ssh's time 40 ms are its own and no simulator's: it sends its key exchange in two small writes without TCP_NODELAY, and
# waits for a delayed acknowledgement, of a real sshd as well.
bench_start_up() {
    local round
    heading "5. Start-up: one host, whole runs, same key and key exchange"
    simulate near --hosts 1
    for ((round = 1; round <= 4 * rounds; round++)); do
        timed "$work/near.ssh" ssh -F "$sim/ssh_config_addresses" -o KexAlgorithms=curve25519-sha256 127.64.0.1 true ||
            die "ssh: $(cat "$work/err")"
        check_all "$work/near.check"
    done
    row "ssh HOST true" "$(spread "$work/near.ssh" 1 1 1000)" ms
    row "cleanslate check" "$(spread "$work/near.check" 1 1 1000)" ms
    quotient "cleanslate check / ssh HOST true" "$(real "$work/near.check")" "$(real "$work/near.ssh")" 1.3
    end_simulation
}
