# shellcheck shell=bash disable=SC2154  # what slurm_test.sh sets, which reads this
# Shards as an array of jobs, and the merging of their reports.

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
