# shellcheck shell=bash
# A Slurm of a test's own: munge, slurmctld and slurmd of Debian's packages, in simulated hosts that have GPUs and
# accounts. All of it lives in $work and ends with the fleet. Read by slurm_test.sh, which sets $build.

skip() { echo "skipped: $*"; exit 77; }

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${build:?} work=${work:-}

# From the packages as ./dev takes them apart, else from the machine.
find_slurm() {
    local unpacked=$source/build/unpacked folder
    if [ -x "$unpacked/usr/sbin/slurmctld-wlm" ]; then slurm_from=$unpacked; else slurm_from=; fi
    for program in usr/sbin/slurmctld-wlm usr/sbin/slurmd-wlm usr/sbin/slurmstepd-wlm usr/sbin/munged usr/bin/sbatch; do
        [ -x "$slurm_from/$program" ] || skip "needs $program (packages slurmctld, slurmd, munge, slurm-client)"
    done
    for folder in "$slurm_from"/usr/lib/*-linux-gnu/slurm-wlm; do plugins=$folder; done
    [ -d "$plugins" ] || skip "needs Slurm's plugins (package slurm-wlm-basic-plugins)"
}

# To where the simulated hosts see it, whose /tmp, /home, /root and /opt are their own.
copy_slurm() {
    mkdir -p "$work/slurm/lib" "$work/bin"
    # By the names that the packages' alternatives give them: Slurm reads Gres= only where it is called slurmctld.
    for program in slurmctld slurmd slurmstepd; do cp "$slurm_from/usr/sbin/$program-wlm" "$work/slurm/$program"; done
    cp "$slurm_from/usr/sbin/munged" "$work/slurm/"
    cp "$slurm_from"/usr/bin/{sbatch,srun,squeue,scontrol,scancel,sinfo} "$work/slurm/"
    cp -r "$plugins" "$work/slurm/lib/plugins"
    if [ -n "$slurm_from" ]; then
        find "$slurm_from/usr/lib" "$slurm_from/lib" -maxdepth 2 -name '*.so.*' \
            -exec cp -P -t "$work/slurm/lib" {} + 2>/dev/null || :
    fi
    cp "$build/cleanslate" "$work/bin/"
    libraries=$work/slurm/lib:$work/slurm/lib/plugins
    local missing
    missing=$(LD_LIBRARY_PATH=$libraries ldd "$work"/slurm/{slurmctld,slurmd,slurmstepd} "$work/slurm/munged" \
        "$work/slurm/lib/plugins/select_cons_tres.so" | sed -n 's/ => not found//p' | sort -u | tr -d '\t' | tr '\n' ' ')
    [ -z "$missing" ] || skip "Slurm lacks libraries here: $missing"
    # A program of Slurm's for scripts that know neither its libraries nor its configuration.
    for program in scontrol squeue sinfo; do
        printf '#!/bin/sh\nexec env LD_LIBRARY_PATH=%s SLURM_CONF=%s %s "$@"\n' "$libraries" "$work/etc/slurm.conf" \
            "$work/slurm/$program" >"$work/bin/$program"
    done
    chmod 755 "$work/bin"/*
}

# Ports of loopback that nobody listens at, one after the other, below those that the kernel gives out.
free_ports() {
    local port try
    for ((try = 0; try < 50; try++)); do
        ports=$((10000 + RANDOM % 20000))
        for ((port = ports; port < ports + 4; port++)); do
            ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue 2
        done
        return
    done
    skip "no free ports of loopback"
}

# write_configuration [gpus]: with them Slurm gives out the nodes' GPUs.
write_configuration() {
    local gres=
    mkdir -p "$work"/{etc,log,spool,state,run} "$work/munge"
    chmod 700 "$work/munge"
    dd if=/dev/urandom of="$work/munge/key" bs=1024 count=1 2>/dev/null
    chmod 600 "$work/munge/key"
    if [ "${1:-}" = gpus ]; then
        gres=' Gres=gpu:2'
        echo GresTypes=gpu >"$work/etc/slurm.conf"
        # slurmd wants files of devices; those of the simulated GPUs are none.
        mkdir "$work/dev"
        for number in 0 1; do mknod -m 666 "$work/dev/nvidia$number" c 1 3; done
        echo "Name=gpu File=$work/dev/nvidia[0-1]" >"$work/etc/gres.conf"
    fi
    cat >>"$work/etc/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=head(127.0.0.1)
SlurmctldPort=$ports
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/run/munge.socket
CredType=cred/munge
PluginDir=$work/slurm/lib/plugins
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool/%n
SlurmctldPidFile=$work/run/slurmctld.pid
SlurmdPidFile=$work/run/slurmd.%n.pid
SlurmctldLogFile=$work/log/slurmctld
SlurmdLogFile=$work/log/slurmd.%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=1
KillWait=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=gpu01 NodeAddr=127.0.0.1 Port=$((ports + 1)) CPUs=8 State=UNKNOWN$gres
NodeName=gpu02 NodeAddr=127.0.0.1 Port=$((ports + 2)) CPUs=8 State=UNKNOWN$gres
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

# The scripts of packaging/slurm, by the lines of the page.
install_scripts() {
    mkdir "$work/etc/cleanslate"
    cp "$source"/packaging/slurm/* "$work/etc/cleanslate/"
    settings ''
    sed -n 's/^ *\(\(Prolog\|Epilog\|HealthCheck\|BatchStartTimeout\|PrologEpilogTimeout\|PrologFlags\)[A-Za-z]*=.*\)/\1/p' \
        "$source/docs/slurm.md" | sed "s,/etc/slurm/cleanslate/,$work/etc/cleanslate/,; s/ *#.*//" >>"$work/etc/slurm.conf"
}

on() { "$build/fleet/simhost" exec "$work/fleet" "$@"; }  # HOST COMMAND...
with_slurm=()
start_cluster() {
    mkdir "$work/descriptions"
    printf 'about a node\ngpus 2\n' >"$work/descriptions/gpu01.host"
    # Its device files are not numbered as nvidia-smi numbers the GPUs: Slurm counts the one, people the other.
    printf 'about a node\ngpus 2\nminors 1 0\n' >"$work/descriptions/gpu02.host"
    printf 'about the controller\ngpus 0\n' >"$work/descriptions/head.host"
    "$build/fleet/simhost" up "$work/fleet" --with $$ "$work/descriptions"
    with_slurm=(env "LD_LIBRARY_PATH=$libraries" "SLURM_CONF=$work/etc/slurm.conf")
    on head "${with_slurm[@]}" "$work/slurm/munged" --socket "$work/run/munge.socket" --key-file "$work/munge/key" \
        --log-file "$work/munge/log" --pid-file "$work/munge/pid" --seed-file "$work/munge/seed" 2>"$work/log/munged"
    on head "${with_slurm[@]}" "$work/slurm/slurmctld" -c
    for host in gpu01 gpu02; do
        on "$host" sh -c "ln -s $work/bin/* /usr/local/bin/"
        on "$host" "${with_slurm[@]}" "$work/slurm/slurmd" -N "$host" -d "$work/slurm/slurmstepd"
    done
    wait_for "two idle nodes" nodes_are_idle
}
nodes_are_idle() { [ "$(slurm sinfo -h -N -o %t | grep -c '^idle$')" -eq 2 ]; }

slurm() { local program=$1; shift; on head "${with_slurm[@]}" "$work/slurm/$program" "$@"; }

# as USER sbatch...: the number of the job.
submit() { # UID ARGUMENTS...
    local uid=$1
    shift
    on head setpriv --reuid "$uid" --regid "$uid" --clear-groups "${with_slurm[@]}" "$work/slurm/sbatch" --parsable \
        --chdir=/tmp --output=/dev/null "$@"
}

node_state() { slurm sinfo -h -n "$1" -o %T; }
node_reason() { slurm scontrol -o show node "$1" | sed -n 's/.* Reason=\(.*\) \[.*/\1/p'; }
is_over() { [ -z "$(slurm squeue -h -j "$1" 2>/dev/null)" ]; }

# wait_for WHAT COMMAND...: until it succeeds; the test fails after 90 s.
wait_for() {
    local what=$1 end=$((SECONDS + 90))
    shift
    until "$@"; do
        if [ "$SECONDS" -ge "$end" ]; then
            echo "WRONG: $what did not come"
            tail -n 15 "$work"/log/* >&2 || :
            slurm squeue >&2 || :
            exit 1
        fi
        read -r -t 0.1 <> <(:) || :
    done
}
