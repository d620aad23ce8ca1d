# shellcheck shell=bash disable=SC2154  # what slurm_test.sh sets, which reads this
# Prolog, epilog and health check where Slurm gives out no GPUs.

# Ends while its worker holds a GPU; beside it, on the same node, another job of the same user and one of another's.
an_epilog_ends_what_its_own_job_has_left_and_nobody_elses() {
    local left again other
    again=$(submit "$alice" -w gpu01 "$(job again "$(hold 1 3000 "$work/word/again" daemon)
sleep 1000")")
    wait_for "alice's other worker" has again
    other=$(submit "$bob" -w gpu01 "$(job other "$(hold 1 2000 "$work/word/other" daemon)
exec $(hold 1 1000 "$work/word/foreground")")")
    wait_for "bob's worker" has other
    wait_for "bob's job" has foreground
    left=$(submit "$alice" -w gpu01 "$(job left "$(hold 0 40000 "$work/word/left" daemon)
until [ -s $work/word/left ]; do sleep 0.1; done")")
    wait_for "the worker that is left" has left
    wait_for "the job's end" is_over "$left"
    if alive left; then wrong "the worker of job $left lives"; fi
    for worker in again other foreground; do alive $worker || wrong "$worker was ended, too"; done
    expect "gpu01 afterwards" '@(mixed|allocated|idle|completing)?(+)' "$(node_state gpu01)"
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

# Whoever writes another job's ID into the environment of his own job's processes keeps them, and drains no node; nor does
# a protected program that a job leaves behind.
a_process_that_claims_another_job_is_its_own_jobs() {
    local first second
    rm -f "$work/word/go"
    on gpu01 cp /bin/sleep /usr/local/bin/nvtop
    first=$(submit "$alice" -w gpu01 "$(job first "setsid -f /usr/local/bin/nvtop 1000
echo ran >$work/word/first
until [ -s $work/word/go ]; do sleep 0.1; done")")
    second=$(submit "$alice" -w gpu01 "$(job second "SLURM_JOB_ID=$first sleep 1000 &
SLURM_JOB_ID=$first exec $(hold 0 3000 "$work/word/second")")")
    wait_for "both jobs" has first
    wait_for "both jobs" has second
    echo >"$work/word/go"
    wait_for "the end of job $first" is_over "$first"
    alive second || wrong "a process of job $second was ended by the epilog of job $first"
    expect "gpu01 afterwards" '@(mixed|allocated)?(+)' "$(node_state gpu01)"
    expect "the protected program that is left" 1 "$(on gpu01 pgrep -xc nvtop)"
    on gpu01 pkill -x nvtop
    slurm scancel "$second"
    wait_for "the end of job $second" is_over "$second"
    wait_for "two idle nodes" nodes_are_idle
}

# More than one step of a playbook can name, all of which ignore TERM.
an_epilog_ends_a_crowd() {
    local id
    rm -f "$work/word/crowd"
    id=$(submit "$alice" -w gpu01 "$(job crowd "trap '' TERM
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
    id=$(submit "$alice" -w gpu02 "$(job kept "echo ran >$work/word/kept")")
    wait_for "the drain of gpu02" is_draining gpu02
    wait_for "the requeue" is_pending "$id"
    expect "the reason" 'cleanslate: GPU 0 dirty: held by dave' "$(node_reason gpu02)"
    if has kept; then wrong "the job ran on a dirty node"; fi
    slurm scancel "$id"
    clean_gpu02
    slurm scontrol update NodeName=gpu02 State=RESUME
    wait_for "two idle nodes" nodes_are_idle
    submit "$alice" -w gpu02 "$work/word/kept.sh" >/dev/null
    wait_for "a job on the node that is clean again" has kept
    wait_for "two idle nodes" nodes_are_idle
}

a_set_up_that_does_not_work_drains_nobody() {
    dirty_gpu02
    local broken
    for broken in CLEANSLATE=/none/cleanslate CLEANSLATE=/bin/false DEADLINE=5 LIMIT=0.001 'CLEANSLATE=(' 'exit 1' \
        '. /none/settings' 'readonly XDG_STATE_HOME=/none' 'set -e
false'; do
        settings "$broken"
        rm -f "$work/word/ran"
        forget_log
        submit "$alice" -w gpu02 "$(job ran "echo ran >$work/word/ran")" >/dev/null
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
    prolog_of() { on gpu02 env -i SLURM_JOB_ID=77 SLURM_JOB_UID="$alice" SLURMD_NODENAME=gpu02 "$@" "$work/etc/cleanslate/prolog"; }
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
    if on gpu02 env -i SLURM_JOB_ID=77 SLURM_JOB_UID="$alice" SLURMD_NODENAME=gpu02 "$work/etc/50-cleanslate"; then
        wrong "the prolog lets a job in where it is called by a link"
    fi
    slurm scontrol update NodeName=gpu02 State=RESUME
}

# gpu02 is dirty.
a_syslog_that_takes_nothing_is_not_the_log() {
    local logger
    settings 'CLEANSLATE=/none/cleanslate'
    # One that hangs; then one that says yes while nobody listens, as util-linux's does.
    on gpu02 python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind("/dev/log")'
    for logger in 'sleep 1000' true; do
        on gpu02 sh -c "printf '#!/bin/sh\nexec $logger\n' >/usr/local/sbin/logger && chmod 755 /usr/local/sbin/logger"
        forget_log
        prolog_of SLURM_JOB_GPUS=0 || wrong "the prolog ended with $?"
        expect "the log beside a logger that is $logger" '*prolog: *ON_ERROR=pass*' "$(logged)"
        on gpu02 rm -f /dev/log
    done
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

part_jobs() {
    start_jobs
    an_epilog_ends_what_its_own_job_has_left_and_nobody_elses
    a_process_that_claims_another_job_is_its_own_jobs
    an_epilog_ends_a_crowd
    a_prolog_keeps_a_job_off_a_dirty_node
    a_set_up_that_does_not_work_drains_nobody
    a_prolog_that_is_not_sure_of_a_gpu_says_so
    a_syslog_that_takes_nothing_is_not_the_log
    a_health_check_drains_a_dirty_idle_node_and_resumes_none
}
