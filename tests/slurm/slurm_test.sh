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

# --- jobs -------------------------------------------------------------------------------------------------------------

hold() { echo "$source_copy/hold.py $*"; }

# Ends while its worker holds a GPU; beside it, on the same node, another job of the same user and one of another's.
an_epilog_ends_what_its_own_job_has_left_and_nobody_elses() {
    local left again other
    again=$(submit $alice -w gpu01 "$(job again "$(hold 1 3000 "$work/word/again" daemon)
sleep 1000")")
    wait_for "alice's other worker" has again
    other=$(submit $bob -w gpu01 "$(job other "$(hold 1 2000 "$work/word/other" daemon)
exec $(hold 1 1000 "$work/word/foreground")")")
    wait_for "bob's worker" has other
    wait_for "bob's job" has foreground
    left=$(submit $alice -w gpu01 "$(job left "$(hold 0 40000 "$work/word/left" daemon)
until [ -s $work/word/left ]; do sleep 0.1; done")")
    wait_for "the worker that is left" has left
    wait_for "the job's end" is_over "$left"
    if alive left; then wrong "the worker of job $left lives"; fi
    for worker in again other foreground; do alive $worker || wrong "$worker was ended, too"; done
    expect "gpu01 afterwards" '@(mixed|allocated|idle)' "$(node_state gpu01)"
    expect "who was signalled" "$(cat "$work/word/left") TERM" "$(signalled)"
    slurm scancel "$again" "$other"
    wait_for "the end of the other jobs" is_over "$again"
    wait_for "the end of the other jobs" is_over "$other"
    for worker in again other foreground; do if alive $worker; then wrong "$worker was not ended by its own epilog"; fi; done
    wait_for "two idle nodes" nodes_are_idle
}
# Who was sent which signal, by the audit log.
signalled() {
    sed -n 's/.*"event":"result".*"signal":"\([A-Z]*\)".*"pid":\([0-9]*\).*/\2 \1/p' "$work/log/cleanslate/audit.jsonl" 2>/dev/null |
        sort -u | tr '\n' ',' | sed 's/,$//'
}

# Whoever writes another job's ID into the environment of his own job's processes keeps them, and drains no node.
a_process_that_claims_another_job_is_its_own_jobs() {
    local first second
    rm -f "$work/word/go"
    first=$(submit $alice -w gpu01 "$(job first "echo ran >$work/word/first
until [ -s $work/word/go ]; do sleep 0.1; done")")
    second=$(submit $alice -w gpu01 "$(job second "SLURM_JOB_ID=$first exec $(hold 0 3000 "$work/word/second")")")
    wait_for "both jobs" has first
    wait_for "both jobs" has second
    echo >"$work/word/go"
    wait_for "the end of job $first" is_over "$first"
    alive second || wrong "a process of job $second was ended by the epilog of job $first"
    expect "gpu01 afterwards" '@(mixed|allocated)' "$(node_state gpu01)"
    slurm scancel "$second"
    wait_for "the end of job $second" is_over "$second"
    wait_for "two idle nodes" nodes_are_idle
}

# More than one step of a playbook can name, all of which ignore TERM.
an_epilog_ends_a_crowd() {
    local id
    rm -f "$work/word/crowd"
    id=$(submit $alice -w gpu01 "$(job crowd "trap '' TERM
for i in \$(seq 600); do setsid -f sleep 1000; done
$(hold 0 3000 "$work/word/holder" daemon)
until [ -s $work/word/holder ]; do sleep 0.1; done
echo ran >$work/word/crowd")")
    wait_for "the crowd" has crowd
    wait_for "the end of job $id" is_over "$id"
    expect "who of it lives" 0 "$(on gpu01 sh -c "grep -lzxF SLURM_JOB_ID=$id /proc/[0-9]*/environ 2>/dev/null" | wc -l)"
    wait_for "two idle nodes" nodes_are_idle
}

dirty_gpu02() {
    rm -f "$work/word/stray"
    on gpu02 setpriv --reuid 1004 --regid 1004 --clear-groups "$source_copy/hold.py" 1 9000 "$work/word/stray" daemon
    wait_for "a worker outside of any job" has stray
}
clean_gpu02() { on gpu02 kill -9 "$(cat "$work/word/stray")"; }

a_prolog_keeps_a_job_off_a_dirty_node() {
    dirty_gpu02
    local id
    id=$(submit $alice -w gpu02 "$(job kept "echo ran >$work/word/kept")")
    wait_for "the drain of gpu02" is_draining gpu02
    wait_for "the requeue" is_pending "$id"
    expect "the reason" 'cleanslate: GPU 0 dirty: held by dave' "$(node_reason gpu02)"
    if has kept; then wrong "the job ran on a dirty node"; fi
    slurm scancel "$id"
    clean_gpu02
    slurm scontrol update NodeName=gpu02 State=RESUME
    wait_for "two idle nodes" nodes_are_idle
    submit $alice -w gpu02 "$work/word/kept.sh" >/dev/null
    wait_for "a job on the node that is clean again" has kept
    wait_for "two idle nodes" nodes_are_idle
}
is_draining() { [[ $(node_state "$1") == drain* ]]; }
is_pending() { [ "$(slurm squeue -h -j "$1" -o %T)" = PENDING ]; }

a_set_up_that_does_not_work_drains_nobody() {
    dirty_gpu02
    local broken
    for broken in CLEANSLATE=/none/cleanslate CLEANSLATE=/bin/false DEADLINE=5 LIMIT=0.001 'CLEANSLATE=(' 'exit 1' \
        '. /none/settings' 'readonly XDG_STATE_HOME=/none' 'set -e
false'; do
        settings "$broken"
        rm -f "$work/word/ran"
        forget_log
        submit $alice -w gpu02 "$(job ran "echo ran >$work/word/ran")" >/dev/null
        wait_for "the job with $broken" has ran
        wait_for "two idle nodes with $broken" nodes_are_idle
        expect "the log with $broken" '*prolog: *ON_ERROR=pass*' "$(logged)"
    done
    settings ''
    mv "$work/etc/cleanslate/common" "$work/etc/cleanslate/uncommon"
    on gpu02 "$work/etc/cleanslate/prolog" || wrong "the prolog without common ended with $?"
    mv "$work/etc/cleanslate/uncommon" "$work/etc/cleanslate/common"
}

# gpu02 is dirty: what holds /dev/nvidia1 has nvidia-smi's GPU 0. This Slurm gives out no GPUs: the variables are set by hand.
a_prolog_that_is_not_sure_of_a_gpu_says_so() {
    prolog_of() { on gpu02 env -i SLURM_JOB_ID=77 SLURM_JOB_UID=$alice SLURMD_NODENAME=gpu02 "$@" "$work/etc/cleanslate/prolog"; }
    forget_log
    if prolog_of SLURM_JOB_GPUS=0; then wrong "the prolog lets a job in on a node that is dirty and its own"; fi
    expect "the log" '*Slurm does not count the GPUs that the driver has*' "$(logged)"
    slurm scontrol update NodeName=gpu02 State=RESUME
    settings "GPUS=$work/etc/two CONSTRAINED=yes"
    echo 2 >"$work/etc/two"
    forget_log
    prolog_of SLURM_JOB_GPUS=7 || wrong "the prolog of a job with a GPU that is not there ended with $?"
    expect "the log" '*no uuid is known of its GPUs 7*' "$(logged)"
    settings "GPUS=$work/etc/two CONSTRAINED=yes ON_ERROR=fail"
    if prolog_of SLURM_JOB_GPUS=7; then wrong "the prolog passes what it cannot look at, with ON_ERROR=fail"; fi
    settings ''
    # By a link, as from a folder of prologs.
    ln -sf cleanslate/prolog "$work/etc/50-cleanslate"
    if on gpu02 env -i SLURM_JOB_ID=77 SLURM_JOB_UID=$alice SLURMD_NODENAME=gpu02 "$work/etc/50-cleanslate"; then
        wrong "the prolog lets a job in where it is called by a link"
    fi
    slurm scontrol update NodeName=gpu02 State=RESUME
}

# gpu02 is dirty.
a_log_that_hangs_holds_nobody_up() {
    on gpu02 sh -c 'printf "#!/bin/sh\nexec sleep 1000\n" >/usr/local/sbin/logger && chmod 755 /usr/local/sbin/logger'
    settings 'CLEANSLATE=/none/cleanslate'
    forget_log
    prolog_of SLURM_JOB_GPUS=0 || wrong "the prolog ended with $?"
    expect "the log" '*prolog: *ON_ERROR=pass*' "$(logged)"
    on gpu02 rm /usr/local/sbin/logger
    settings ''
}

# gpu02 is dirty.
a_health_check_drains_a_dirty_idle_node_and_resumes_none() {
    on gpu02 env -i "$work/etc/cleanslate/healthcheck" || wrong "healthcheck: status $?"
    expect "gpu02 after the health check" 'drain*' "$(node_state gpu02)"
    expect "the reason" 'cleanslate: GPU 0 dirty: held by dave' "$(node_reason gpu02)"
    slurm scontrol update NodeName=gpu02 State=RESUME
    slurm scontrol update NodeName=gpu02 State=DRAIN Reason='fan broken'
    on gpu02 env -i "$work/etc/cleanslate/healthcheck" || wrong "healthcheck: status $?"
    expect "the reason of somebody else" 'fan broken' "$(node_reason gpu02)"
    clean_gpu02
    on gpu02 env -i "$work/etc/cleanslate/healthcheck" || wrong "healthcheck: status $?"
    expect "gpu02, which is clean" 'drain*' "$(node_state gpu02)"
    slurm scontrol update NodeName=gpu02 State=RESUME
    on gpu01 env -i "$work/etc/cleanslate/healthcheck" || wrong "healthcheck: status $?"
    wait_for "two idle nodes" nodes_are_idle
}

start_jobs() {
    source_copy=$work/bin
    cp "$source/tests/slurm/hold.py" "$source_copy/"
    chmod 755 "$source_copy/hold.py"
    install_scripts
    start_cluster
}

part_jobs() {
    start_jobs
    an_epilog_ends_what_its_own_job_has_left_and_nobody_elses
    a_process_that_claims_another_job_is_its_own_jobs
    an_epilog_ends_a_crowd
    a_prolog_keeps_a_job_off_a_dirty_node
    a_set_up_that_does_not_work_drains_nobody
    a_prolog_that_is_not_sure_of_a_gpu_says_so
    a_log_that_hangs_holds_nobody_up
    a_health_check_drains_a_dirty_idle_node_and_resumes_none
}

# --- gpus -------------------------------------------------------------------------------------------------------------

stray() { # NODE INDEX: a worker outside of any job
    rm -f "$work/word/stray"
    on "$1" setpriv --reuid 1004 --regid 1004 --clear-groups "$source_copy/hold.py" "$2" 9000 "$work/word/stray" daemon
    wait_for "a worker outside of any job" has stray
}
end_stray() { on "$1" kill -9 "$(cat "$work/word/stray")"; }
job_on_a_gpu() { submit $alice -w "$1" --gres=gpu:1 "$(job "$2" "echo \$SLURM_JOB_GPUS >$work/word/$2
${3:-}")"; }
end_job() { slurm scancel "$@"; for id; do wait_for "the end of job $id" is_over "$id"; done; }
resume() {
    slurm scontrol update NodeName="$1" State=RESUME
    wait_for "two idle nodes" nodes_are_idle
}

a_prolog_judges_the_gpus_of_its_job_alone() {
    local first second
    stray gpu01 1
    first=$(job_on_a_gpu gpu01 first 'sleep 1000')
    wait_for "the job on the clean GPU" has first
    second=$(job_on_a_gpu gpu01 second)
    wait_for "the drain of gpu01" is_draining gpu01
    wait_for "the requeue" is_pending "$second"
    expect "the reason" 'cleanslate: GPU 1 dirty: held by dave' "$(node_reason gpu01)"
    if has second; then wrong "the job ran on a dirty GPU"; fi
    expect "the first job" RUNNING "$(slurm squeue -h -j "$first" -o %T)"
    end_job "$first" "$second"
    end_stray gpu01
    resume gpu01
}

an_epilog_drains_a_node_whose_gpu_its_job_gave_back_dirty() {
    local id
    id=$(job_on_a_gpu gpu01 left "$(hold 0 4000 "$work/word/worker" daemon)
until [ -s $work/word/go ]; do sleep 0.1; done")
    wait_for "the worker that is left" has worker
    stray gpu01 0
    echo >"$work/word/go"
    wait_for "the drain of gpu01" is_draining gpu01
    wait_for "the end of job $id" is_over "$id"
    if alive worker; then wrong "the worker of job $id lives"; fi
    alive stray || wrong "a worker that is not the job's was ended"
    expect "the reason" 'cleanslate: GPU 0 dirty: held by dave' "$(node_reason gpu01)"
    end_stray gpu01
    resume gpu01
}

# Job 0 gets /dev/nvidia0, which is nvidia-smi's GPU 1; what holds /dev/nvidia1 is on its GPU 0.
a_prolog_follows_the_device_files_where_jobs_are_held_to_them() {
    local id
    stray gpu02 1
    id=$(job_on_a_gpu gpu02 unsure)
    wait_for "the drain of gpu02, all of which is looked at" is_draining gpu02
    expect "the reason" 'cleanslate: GPU 0 dirty: held by dave' "$(node_reason gpu02)"
    expect "the log" '*not numbered as nvidia-smi numbers the GPUs*' "$(logged)"
    end_job "$id"
    resume gpu02
    settings CONSTRAINED=yes
    job_on_a_gpu gpu02 sure >/dev/null
    wait_for "the job on the clean file" has sure
    wait_for "two idle nodes" nodes_are_idle
    settings ''
}

# gpu02 is dirty and idle.
slurm_itself_calls_the_health_check() {
    sed -i 's/^HealthCheckInterval=.*/HealthCheckInterval=2/' "$work/etc/slurm.conf"
    slurm scontrol reconfigure
    wait_for "the drain of gpu02" is_draining gpu02
    expect "the reason" 'cleanslate: GPU 0 dirty: held by dave' "$(node_reason gpu02)"
    end_stray gpu02
    resume gpu02
    sed -i 's/^HealthCheckInterval=.*/HealthCheckInterval=0/' "$work/etc/slurm.conf"
    slurm scontrol reconfigure
}

named() { on head env "PATH=$work/bin:$PATH" "$build/cleanslate" hosts --config none "$@" | tr '\n' ' '; }
# The second part's processes are started with the first one's ID.
an_epilog_ends_what_a_part_of_a_heterogeneous_job_has_left() {
    local id
    rm -f "$work/word/parted"
    id=$(submit $alice -w gpu01 --gres=gpu:1 : -w gpu02 --gres=gpu:1 "$(job parted "$work/slurm/srun --het-group=1 \
    $(hold 0 3000 "$work/word/parted" daemon)
until [ -s $work/word/parted ]; do sleep 0.1; done")")
    wait_for "the worker of the second part" has parted
    wait_for "the end of job $id" is_over "$id"
    wait_for "two idle nodes" nodes_are_idle
    if on gpu02 kill -0 "$(cat "$work/word/parted")" 2>/dev/null; then wrong "the worker of the second part lives"; fi
}

the_nodes_of_jobs_and_partitions_are_slurms() {
    local single parts
    single=$(job_on_a_gpu gpu02 single 'sleep 1000')
    wait_for "the job" has single
    expect "the nodes of job $single" 'gpu02 ' "$(named --slurm-job "$single")"
    expect "the nodes of a partition" 'gpu01 gpu02 ' "$(named --slurm-partition all)"
    expect "its idle nodes" 'gpu01 ' "$(named --slurm-partition all --state idle)"
    end_job "$single"
    if named --slurm-job "$single" 2>"$work/word/said"; then wrong "job $single is over, and still has nodes"; fi
    parts=$(submit $alice -w gpu01 --gres=gpu:1 : -w gpu02 --gres=gpu:1 "$(job parts "echo ran >$work/word/parts
sleep 1000")")
    wait_for "the job of two parts" has parts
    expect "the nodes of job $parts" 'gpu01 gpu02 ' "$(named --slurm-job "$parts")"
    expect "those of its second part" 'gpu02 ' "$(named --slurm-job "$parts+1")"
    end_job "$parts"
}

part_gpus() {
    start_jobs
    a_prolog_judges_the_gpus_of_its_job_alone
    an_epilog_drains_a_node_whose_gpu_its_job_gave_back_dirty
    a_prolog_follows_the_device_files_where_jobs_are_held_to_them
    slurm_itself_calls_the_health_check
    an_epilog_ends_what_a_part_of_a_heterogeneous_job_has_left
    the_nodes_of_jobs_and_partitions_are_slurms
}

# --- array ------------------------------------------------------------------------------------------------------------

merge() { # WANTED_STATUS ARGUMENTS: of the reports that are there
    local wanted=$1 status=0
    shift
    "$build/cleanslate" report merge "$work"/word/shard-*.json "$@" || status=$?
    [ "$status" -eq "$wanted" ] || wrong "merge ended with $status, expected $wanted"
}
names() { sed -n 's/^{"name":"\([^"]*\)".*/\1/p' "$1" | sort; }
# The one of docs/slurm.md, in this test's folders. Its third task waits before it begins, for the test to kill it.
page_script() {
    local text waits
    text=$(sed -n '/^    #!\/bin\/sh/,/ARRAY_TASK_ID[.]json/s/^    //p' "$source/docs/slurm.md")
    waits="export HOME=$work/word
[ \$SLURM_ARRAY_TASK_ID != 2 ] || [ -e $work/word/go ] || {
    echo \$SLURMD_NODENAME kill -9 \$\$ >$work/word/waits
    wait=--jitter=1h
}"
    text=${text//\/shared\/fleet.yaml/$scale/inventory.yaml --known-hosts $scale/known_hosts \$wait}
    text=${text//\/shared\//$work/word/}
    printf '%s\n' "${text//exec cleanslate/$waits
exec $work/bin/cleanslate}"
}

part_array() {
    local array hosts=2000 scale=$work/scale
    mkfifo "$work/ends"
    "$build/fleet/simfleet" "$scale" --hosts $hosts --gpus 2 --port 0 --share dirty=1 <"$work/ends" >"$work/log/simfleet" 2>&1 &
    exec 8>"$work/ends"
    start_cluster
    wait_for "the fleet" test -e "$scale/ready"
    page_script >"$work/word/shard.sh"
    array=$(SWEEP=shard submit 0 "$work/word/shard.sh")
    wait_for "the third task" has waits
    for task in 0 1 3; do wait_for "the report of task $task" has "shard-$task.json"; done
    # scancel would begin with TERM, after which there is a report, of hosts that were not tried.
    # shellcheck disable=SC2046  # words
    on $(cat "$work/word/waits")
    wait_for "the end of the array" is_over "$array"
    if has shard-2.json; then wrong "the killed task has a report"; fi

    merge 3 --format json="$work/part.json" >"$work/part.txt"
    expect "hosts in the merged report" $hosts "$(names "$work/part.json" | wc -l)"
    local missing
    missing=$(grep -c '"code":"shard-missing"' "$work/part.json")
    expect "hosts of the missing shard" "$("$build/cleanslate" hosts -i "$scale/inventory.yaml" --shard 3/4 | wc -l)" "$missing"
    expect "the text" '*shard 3/4 has no report*' "$(cat "$work/part.txt")"

    # The one is run again, alone.
    : >"$work/word/go"
    array=$(SWEEP=shard submit 0 --array=2 "$work/word/shard.sh")
    wait_for "the report of the third task" has shard-2.json
    merge 1 --format json="$work/whole.json" >/dev/null
    expect "hosts in the whole" $hosts "$(names "$work/whole.json" | wc -l)"
    expect "who is not clean" "$(sort "$scale/kinds.txt")" "$(not_clean "$work/whole.json")"
    wait_for "the end of the array" is_over "$array"
}
not_clean() {
    sed -n 's/^{"name":"\([^"]*\)","address":[^,]*,"port":[^,]*,"verdict":"\([a-z]*\)".*/\1 \2/p' "$1" | grep -v ' clean$' | sort
}

"part_$part"
$good || exit 1
echo "as expected"
