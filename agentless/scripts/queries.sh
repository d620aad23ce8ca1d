# Part of the survey: what is asked of nvidia-smi, and with how much patience. POSIX sh; docs/remote-protocol.md has the
# grammar of what it prints and the reasons for its shape.
# shellcheck shell=sh
# shellcheck disable=SC2154 # nonce, budget, gpu_columns, ...: from the survey's first lines; until_cs: from look

# Since boot: whole seconds into now, hundredths into cs. Take differences of cs only: mksh counts in 32 bits. No fork.
read_uptime() {
  now=0
  read -r now _ </proc/uptime
  fraction=${now#*.}
  now=${now%.*}
  case $fraction in [0-9][0-9]) ;; *) fraction=00 ;; esac
  cs=$((now * 100 + 1$fraction - 100))
}

# Each nvidia-smi in state D, at least $1 s old, into suspects; of one whose parent is gone, as an earlier survey leaves
# it, 2 s are enough. A healthy one is in D for moments, hence the second look.
find_suspects() {
  suspects=
  read_uptime
  named=$(cd /proc && exec grep -lsx nvidia-smi [0-9]*/comm </dev/null)
  [ $? -le 2 ] || named=$(name_suspects)
  for one in $named; do
    one=${one%/comm}
    if read_stat "$one" && [ "$stat_state" = D ] &&
      { [ $((now - ${stat_start%??})) -ge "$1" ] ||
        { [ "$stat_parent" = 1 ] && [ $((now - ${stat_start%??})) -ge 2 ]; }; }; then
      suspects="$suspects $one:$stat_start"
    fi
  done
}

# Where grep is not there, or cannot take so many.
name_suspects() {
  cd /proc || return
  for file in [0-9]*/comm; do
    name=
    read -r name <"$file"
    [ "$name" != nvidia-smi ] || echo "$file"
  done
}

# A second later: prints those that still are, with $1 in front. False where there are none.
print_suspects() {
  found=1
  for suspect in $suspects; do
    if read_stat "${suspect%:*}" && [ "$stat_state:$stat_start" = "D:${suspect#*:}" ]; then
      echo "$1${suspect%:*}"
      found=0
    fi
  done
  return "$found"
}

# Prints an nvidia-smi that hangs in the kernel: none is started beside it, since each would add one more.
print_stuck() {
  find_suspects "$1"
  [ -n "$suspects" ] || return 1
  sleep 1
  print_suspects "$nonce stuck "
}

# Budget over: TERM, a second later KILL, then it is left to itself. The main shell says when (watch_time). Where there
# would be no second one before the survey is cut, KILL at once.
on_alarm() {
  alarms=$((alarms + 1))
  [ -n "$child" ] || return 0
  case $alarms in
    1) if [ "$slack" -ge 3 ]; then end_child TERM; else end_child KILL; fi ;;
    2) end_child KILL ;;
  esac
}

# end_child SIGNAL: nvidia-smi and all that it has started. Those that have lost their parent since are remembered.
end_child() {
  find_kin "$child"
  # shellcheck disable=SC2086
  doom "$child" $kin
  end_doomed "$1"
}

# doom PID...: adds them to doomed as PID:START.
doom() {
  for one in "$@"; do
    case $doomed in *" $one:"*) continue ;; esac
    read_stat "$one" && doomed="$doomed $one:$stat_start"
  done
}

end_doomed() {
  for one in $doomed; do
    read_stat "${one%:*}" && [ "$stat_start" = "${one#*:}" ] && kill -s "$1" "${one%:*}"
  done
}

begin_asking() {
  child='' alarms=0
  trap on_alarm "$alarm"
}

end_asking() {
  trap '' "$alarm"
  echo "$nonce done queries"
}

# ask NAME ARGUMENT...: one nvidia-smi query in what is left of the budget, then how long it took and how it ended.
ask() {
  tool=$1
  shift
  read_uptime
  asked_at=$cs doomed=
  echo "$nonce section $tool"
  nvidia-smi "$@" 2>&1 </dev/null &
  child=$!
  while :; do
    wait "$child"
    status=$?
    if [ "$alarms" -ge 3 ] || ! kill -s 0 "$child"; then break; fi
  done
  child=
  # What it had started may live on where it was the only one that a TERM ended.
  [ "$alarms" -lt 1 ] || end_doomed KILL
  read_uptime
  took=$((cs - asked_at))
  [ "$took" -le "$slowest" ] || slowest=$took
  echo
  echo "$nonce took $tool $took"
  if [ "$alarms" -ge 1 ]; then
    echo "$nonce tool $tool timeout"
    return 1
  fi
  echo "$nonce tool $tool $status"
}

# Whether there is time for an optional question: a third of the budget, and twice what the slowest one took. One that
# runs out of time on a slow driver would look like a driver that hangs.
can_spare() {
  read_uptime
  left=$((until_cs - cs))
  [ $((left * 3)) -ge $((budget * 100)) ] && [ "$left" -ge $((slowest * 2)) ]
}

ask_optional_columns() {
  ask opt "--query-gpu=index,uuid,pci.bus_id,$1" --format=csv,noheader
}

# Nothing of this is needed for a verdict. False where nvidia-smi did not end in time.
ask_optional() {
  if [ -z "$optional_columns" ] || ! can_spare; then
    echo "$nonce tool opt skipped"
  elif ! ask_optional_columns "$optional_columns"; then
    echo "$nonce tool list skipped"
    return 1
  fi
  if can_spare; then ask list -L; else echo "$nonce tool list skipped"; fi
}

# The driver's side. What nvidia-smi prints goes out as it is; all else has the nonce in front.
queries() {
  old=$budget
  [ "$old" -le 30 ] || old=30
  if print_stuck "$((old - 1))"; then
    echo "$nonce done queries"
    return
  fi
  if ! has nvidia-smi; then
    echo "$nonce tool gpu missing"
    echo "$nonce done queries"
    return
  fi
  begin_asking
  if ! ask gpu "--query-gpu=$gpu_columns" --format=csv,noheader ||
    ! ask app "--query-compute-apps=$app_columns" --format=csv,noheader ||
    { [ "$optional" = 1 ] && ! ask_optional; }; then
    print_stuck 0
  fi
  end_asking
}
