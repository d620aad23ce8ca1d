# One look at a host. Goes to the standard input of `/bin/sh -s` behind process.sh and join.sh; POSIX sh, writes
# nothing to disk. docs/remote-protocol.md has the grammar of what it prints and the reasons for its shape.
# shellcheck shell=sh
#
# In front stand: nonce (hex), budget (s, of nvidia-smi), slack (s, of all else), all_processes (0 or 1), gpu_columns,
# app_columns.
# shellcheck disable=SC2154
#
# Who owns the channel: this shell and one cat, both of which can always be killed. Everything that may hang for good
# (nvidia-smi, reading a wedged process's maps or command line) has a pipe that ends at that cat:
#     queries | tag | join | cat

has() {
  command -v "$1" >/dev/null
}

# Whole seconds since boot, into now.
read_uptime() {
  now=0
  read -r now _ </proc/uptime
  now=${now%.*}
}

# Sleeps; TERM ends it at once, with all that belongs to it: by KILL, since a child that is not yet a sleep may lose a TERM
# to the shell's own handler.
nap() {
  napping=
  trap '[ -z "$napping" ] || { kill -s KILL "$napping"; wait "$napping"; }; exit 1' TERM
  sleep "$1" &
  napping=$!
  wait "$napping"
  slept=$?  # not the last command: mksh runs no trap behind that
  return "$slept"
}

# guard PID START SECOND...: sends USR1 to PID after each of the naps, if it is still the same process.
guard() {
  guarded=$1 since=$2
  shift 2
  for pause in "$@"; do
    nap "$pause"
    read_stat "$guarded" && [ "$stat_start" = "$since" ] && kill -s USR1 "$guarded"
  done
}

# Prints an nvidia-smi that hangs in the kernel (state D): none is started beside it, since each would add one more.
# $1: it must be that old (s). A healthy one is in D for moments, hence the second look.
print_stuck() {
  suspects=
  read_uptime
  for dir in /proc/[0-9]*; do
    name=
    read -r name <"$dir/comm"
    if [ "$name" = nvidia-smi ] && read_stat "${dir#/proc/}" && [ "$stat_state" = D ] &&
      [ $((now - ${stat_start%??})) -ge "$1" ]; then
      suspects="$suspects ${dir#/proc/}:$stat_start"
    fi
  done
  [ -n "$suspects" ] || return 1
  sleep 1
  found=1
  for suspect in $suspects; do
    if read_stat "${suspect%:*}" && [ "$stat_state:$stat_start" = "D:${suspect#*:}" ]; then
      echo "$nonce stuck ${suspect%:*}"
      found=0
    fi
  done
  return "$found"
}

# ask NAME ARGUMENT...: one nvidia-smi query in what is left of the budget, then how it ended.
ask() {
  tool=$1
  shift
  read_uptime
  left=$((until_second - now))
  [ "$left" -ge 1 ] || left=1
  echo "$nonce section $tool"
  if [ -n "$timeout" ]; then
    timeout -k 1 "$left" nvidia-smi "$@" 2>&1 </dev/null &
  else
    nvidia-smi "$@" 2>&1 </dev/null &
  fi
  child=$!
  while :; do
    wait "$child"
    status=$?
    if [ "$alarms" -ge 3 ] || ! kill -s 0 "$child"; then break; fi
  done
  child=
  read_uptime
  echo
  if [ "$alarms" -ge 1 ] || { [ "$status" -ge 124 ] && [ "$now" -ge "$until_second" ]; }; then
    echo "$nonce tool $tool timeout"
    return 1
  fi
  echo "$nonce tool $tool $status"
}

# Budget over: TERM, a second later KILL, then it is left to itself.
on_alarm() {
  alarms=$((alarms + 1))
  [ -n "$child" ] || return 0
  case $alarms in
    1) kill -s TERM "$child" ;;
    2) kill -s KILL "$child" ;;
  esac
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
  # GNU's ends nvidia-smi with all its children. busybox's leaves a process of its own behind.
  timeout=
  timeout --version >/dev/null </dev/null && timeout=yes
  read_uptime
  until_second=$((now + budget))
  child='' alarms=0
  trap on_alarm USR1
  read -r me _ </proc/self/stat
  read_stat "$me"
  guard "$me" "$stat_start" "$budget" 1 1 1 1 >/dev/null </dev/null &
  watch=$!
  if ! ask gpu "--query-gpu=$gpu_columns" --format=csv,noheader ||
    ! ask app "--query-compute-apps=$app_columns" --format=csv,noheader; then
    print_stuck 0
  fi
  kill "$watch"
  wait "$watch"
  echo "$nonce done queries"
}

# Marks each line with where it came from, and ends at the last record even where a stuck child keeps the pipe open:
# nothing that comes later can be taken for anything else.
tag() {
  section=gpu count=0
  while IFS= read -r line && [ "$count" -lt 4096 ]; do
    count=$((count + 1))
    case $line in
      "$nonce section "*) section=${line##* } ;;
      "$nonce "*)
        echo "record ${line#"$nonce "}"
        [ "$line" != "$nonce done queries" ] || return 0
        ;;
      ?*) printf '%s\n' "$section $line" ;;
    esac
  done
}

# All that this survey has started, into kin.
find_kin() {
  set -- /proc/[0-9]*
  kin=" $$ "
  for _ in 1 2 3; do
    [ $# -lt 5000 ] || break
    for dir in "$@"; do
      one=${dir#/proc/}
      case $kin in *" $one "*) continue ;; esac
      read_stat "$one" || continue
      case $kin in *" $stat_parent "*) kin="$kin$one " ;; esac
    done
  done
}

# After a cut: which files of which processes a child of this survey is stuck in, as its own descriptors tell. Then the
# children end; one that the kernel does not let go ends when it does.
end_kin() {
  for one in $kin; do
    [ "$one" != "$$" ] || continue
    # shellcheck disable=SC2012,SC2217
    ls -l "/proc/$one/fd" </dev/null | while IFS= read -r line; do
      file=${line##* -> /proc/}
      case $file in
        *[!0-9a-z/]* | */*/*) ;;
        [0-9]*/maps | [0-9]*/cmdline | [0-9]*/cgroup | [0-9]*/stat | [0-9]*/status) echo "reading ${file%/*} ${file#*/}" ;;
      esac
    done
    kill -s KILL "$one"
  done
}

print_meta() {
  read -r boot </proc/sys/kernel/random/boot_id && echo "meta boot $boot"
  while read -r key value _; do
    [ "$key" != Uid: ] || echo "meta uid $value"
  done </proc/self/status
  # shellcheck disable=SC2217
  ticks=$(getconf CLK_TCK </dev/null) && echo "meta ticks $ticks"
  read -r up _ </proc/uptime && echo "meta uptime $up"
  echo "meta shell $$"
  # Pids that are not those of this /proc must not be signalled.
  me=
  read -r me _ </proc/self/stat
  [ "$me" = "$$" ] || echo "meta foreign-proc"
  # Only the host's own /proc shows kthreadd, and only to those from whom hidepid hides nothing.
  name=
  read -r name </proc/2/comm
  [ "$name" = kthreadd ] || echo "meta hidden"
  for tool in cat ls find tr awk sleep printf; do
    has "$tool" || echo "meta missing $tool"
  done
  [ ! -r /dev ] || echo "nodes"
  for node in /dev/nvidia[0-9]*; do
    case ${node#/dev/nvidia} in *[!0-9]* | ?????*) ;; *) echo "node ${node#/dev/nvidia}" ;; esac
  done
  [ ! -d /proc/driver/nvidia/gpus ] || echo "drivers"
}

end_nap() {
  read_stat "$watch" && [ "$stat_start" = "$watch_start" ] && kill -s TERM "$watch"
}

look() {
  CLEANSLATE_NONCE=$nonce CLEANSLATE_INFO=/proc/driver/nvidia/version
  for file in /proc/driver/nvidia/gpus/*/information; do
    [ ! -e "$file" ] || CLEANSLATE_INFO="$CLEANSLATE_INFO
$file"
  done
  export CLEANSLATE_NONCE CLEANSLATE_INFO
  # What is waited for is the nap: it ends with the time, or when all is read. Never the pipeline: that ends with the
  # last of its parts, and one may hang.
  nap $((budget + slack)) >/dev/null </dev/null &
  watch=$!
  read_stat "$watch"
  watch_start=$stat_start
  queries </dev/null | tag | { join; end_nap; } | cat &
  emitter=$!
  if wait "$watch"; then
    find_kin
    kill -s KILL "$emitter"
    echo
    echo "cut"
    end_kin
  else
    wait "$emitter"
  fi
}

main() {
  exec 2>/dev/null  # no child may own the channel's standard error either
  LC_ALL=C
  PATH=${PATH:-/bin}:/usr/bin:/bin:/usr/local/bin:/usr/local/nvidia/bin:/opt/bin:/usr/lib/wsl/lib
  export LC_ALL PATH
  unset LD_PRELOAD
  echo
  echo "begin $nonce 1"
  print_meta
  # Without these nothing can be read, or not with a deadline.
  if has awk && has cat && has sleep; then look; fi
  echo "end $nonce"
}

main
