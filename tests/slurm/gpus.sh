# shellcheck shell=bash disable=SC2154  # what slurm_test.sh sets, which reads this
# The same where it does; the health check by its own timer; --slurm-job and --slurm-partition.

stray() { # NODE INDEX: a worker outside of any job
    rm -f "$work/word/stray"
    on "$1" setpriv --reuid 1004 --regid 1004 --clear-groups "$source_copy/hold.py" "$2" 9000 "$work/word/stray" daemon
    wait_for "a worker outside of any job" has stray
}
end_stray() { on "$1" kill -9 "$(cat "$work/word/stray")"; }
job_on_a_gpu() { submit "$alice" -w "$1" --gres=gpu:1 "$(job "$2" "echo \$SLURM_JOB_GPUS >$work/word/$2
${3:-}")"; }
end_job() { for id; do wait_for "the end of job $id" is_cancelled "$id"; done; }
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

# Whose device file without a number is open, and for which GPU, cannot be known.
a_job_that_only_opens_devices_keeps_no_other_off() {
    local first
    first=$(job_on_a_gpu gpu01 opens "exec 3</dev/nvidiactl
echo open >$work/word/opened
sleep 1000")
    wait_for "a job that opens a device file" has opened
    job_on_a_gpu gpu01 beside >/dev/null
    wait_for "the job beside it" has beside
    expect "gpu01" '@(mixed|allocated)?(+)' "$(node_state gpu01)"
    end_job "$first"
    wait_for "two idle nodes" nodes_are_idle
}

# A program that writes its title over its environment is found by its GPU alone.
an_epilog_finds_by_the_gpu_who_hides_his_environment() {
    local id
    rm -f "$work/word/hidden"
    settings BY_GPU=yes
    id=$(job_on_a_gpu gpu01 hides "env -i $(hold 0 3000 "$work/word/hidden" daemon)
until [ -s $work/word/hidden ]; do sleep 0.1; done")
    wait_for "the worker without an environment" has hidden
    stray gpu01 1
    wait_for "the end of job $id" is_over "$id"
    if alive hidden; then wrong "the worker without an environment lives"; fi
    alive stray || wrong "a worker on another GPU was ended"
    wait_for "two idle nodes" nodes_are_idle
    end_stray gpu01
    settings ''
}

# Job 0 gets /dev/nvidia0, which is nvidia-smi's GPU 1; what holds /dev/nvidia1 is on its GPU 0.
a_prolog_follows_the_device_files_where_jobs_are_held_to_them() {
    local id
    stray gpu02 1
    id=$(job_on_a_gpu gpu02 unsure)
    wait_for "the drain of gpu02, all of which is looked at" is_draining gpu02
    expect "the reason" 'cleanslate: GPU 0 dirty: held by dave' "$(node_reason gpu02)"
    expect "the log" '*not numbered as nvidia-smi numbers the GPUs*' "$(logged)"
    wait_for "the requeue" is_pending "$id"
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
    id=$(submit "$alice" -w gpu01 --gres=gpu:1 : -w gpu02 --gres=gpu:1 "$(job parted "$work/slurm/srun --het-group=1 \
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
    parts=$(submit "$alice" -w gpu01 --gres=gpu:1 : -w gpu02 --gres=gpu:1 "$(job parts "echo ran >$work/word/parts
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
    a_job_that_only_opens_devices_keeps_no_other_off
    an_epilog_finds_by_the_gpu_who_hides_his_environment
    a_prolog_follows_the_device_files_where_jobs_are_held_to_them
    slurm_itself_calls_the_health_check
    an_epilog_ends_what_a_part_of_a_heterogeneous_job_has_left
    the_nodes_of_jobs_and_partitions_are_slurms
}
