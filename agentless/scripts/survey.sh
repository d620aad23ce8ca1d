# One look at a host. Goes to the standard input of `/bin/sh -s` behind process.sh, queries.sh, learn.sh, reading.sh,
# links.sh, maps.sh, lookups.sh, leftovers.sh and join.sh; POSIX sh, writes nothing to disk. docs/remote-protocol.md
# has the grammar of what it prints and the reasons for its shape.
# shellcheck shell=sh
#
# In front stand: nonce (hex), budget (s, of nvidia-smi), slack (s, of all else), all_processes (0 or 1), gpu_columns,
# app_columns, optional (0 or 1), optional_columns, older_columns (name:older,...), learn (0 or 1: which of them this
# nvidia-smi knows), shm_names (shell patterns, separated by blanks).
# shellcheck disable=SC2034,SC2154
#
# Who owns the channel: this shell and one cat, both of which can always be killed. Everything that may hang for good
# (nvidia-smi, reading a wedged process's maps or command line) has a pipe that ends at that cat:
#     queries | tag | join | cat

has() {
  command -v "$1" >/dev/null
}

# All that PID has started and that still hangs on it, into kin. The kernel's own list of children is not always there:
# then the parents of all are looked through.
find_kin() {
  kin=
  older=$1
  while [ -n "$older" ] && [ -e "/proc/$$/task/$$/children" ]; do
    younger=
    for one in $older; do
      for file in "/proc/$one/task"/[0-9]*/children; do
        children=
        read -r children <"$file"
        [ -z "$children" ] || younger="$younger${children% } "
      done
    done
    kin="$kin $younger"
    older=${younger% }
  done
  [ ! -e "/proc/$$/task/$$/children" ] || return 0
  kin=$(print_kin "$1")
}

# A name may hold newlines, but it is short, and what stands behind it is long and on one line.
print_kin() {
  # shellcheck disable=SC2217
  for digit in 1 2 3 4 5 6 7 8 9; do
    cat "/proc/$digit/stat" "/proc/$digit"[0-9]*/stat </dev/null
  done | awk -v top="$1" '
    { text = text $0 }
    length($0) < 80 { next }
    {
      pid = text + 0
      if (match(text, /\)[^)]*$/)) {
        split(substr(text, RSTART + 2), field, " ")
        children[field[2]] = children[field[2]] " " pid
      }
      text = ""
    }
    function list(pid,   child, i, n) {
      n = split(children[pid], child, " ")
      for (i = 1; i <= n; i++) {
        print child[i]
        list(child[i])
      }
    }
    END { list(top) }'
}

# After a cut: which files of which processes a child of this survey is stuck in, as its own descriptors tell: those
# that it still has open a second later; and each nvidia-smi that hangs in the kernel then as well as now. Then the
# children end; one that the kernel does not let go ends when it does.
end_kin() {
  folders=/proc/$$/fd  # ls names the folders where there are several
  for one in $kin; do folders="$folders /proc/$one/fd"; done
  doomed=
  # shellcheck disable=SC2086
  doom $kin
  find_suspects 0
  # shellcheck disable=SC2012,SC2086,SC2217
  {
    ls -l $folders </dev/null
    echo again
    sleep 1 </dev/null
    ls -l $folders </dev/null
  } | {
    before=' ' look=first
    while IFS= read -r line; do
      case $line in
        again) look=second ;;
        /proc/*:) folder=$line ;;
        *" -> /proc/"*)
          file=${line##* -> /proc/}
          case $file in [0-9]*/task/[0-9]*/[a-z]*) file=${file%%/*}/${file##*/} ;; esac
          case $file in
            *[!0-9a-z/]* | */*/*) ;;
            [0-9]*/maps | [0-9]*/cmdline | [0-9]*/cgroup | [0-9]*/stat | [0-9]*/status)
              case $look$before in
                first*) before="$before$folder$file " ;;
                *" $folder$file "*) echo "reading ${file%/*} ${file#*/}" ;;
              esac
              ;;
          esac
          ;;
      esac
    done
  }
  print_suspects "stuck "
  end_doomed KILL
}

# A shell cannot have a handler for a signal that was ignored when it began. has_signal NAME MASK: whether it is in one of
# the masks of /proc/PID/status.
has_signal() {
  case $1:$2 in
    USR1:*[2367abef]?? | USR2:*[89abcdef]?? | XCPU:*[89abcdef]????? | XFSZ:*[13579bdf]?????? | \
      VTALRM:*[2367abef]?????? | PROF:*[4567cdef]??????) return 0 ;;
  esac
  return 1
}

# Two that can be handled: alarm, for those who ask nvidia-smi, and whole, when everything has been read. No fork.
choose_signals() {
  alarm='' whole='' ignored=
  while read -r key value _; do
    [ "$key" != SigIgn: ] || ignored=$value
  done </proc/self/status
  for name in USR1 USR2 VTALRM PROF XCPU XFSZ; do
    if has_signal "$name" "$ignored"; then continue; fi
    if [ -z "$alarm" ]; then
      alarm=$name
    elif [ -z "$whole" ]; then
      whole=$name
    fi
  done
  [ -n "$whole" ] && return
  echo "meta missing a%20signal%20that%20this%20login%20does%20not%20ignore"
  alarm=USR1 whole=USR2
}

# GPUs and NVSwitches (bridges) as the kernel sees them on PCI, whoever drives them; no virtual functions. Where `cd -P`
# leads is the driver: no fork.
print_pci() {
  [ -r /sys/bus/pci/devices ] || return 0
  echo "pci"
  found=0 switches=0
  for dir in /sys/bus/pci/devices/*; do
    class='' vendor='' bound=-
    read -r class <"$dir/class"
    case $class in 0x0300?? | 0x0302?? | 0x0680??) ;; *) continue ;; esac
    read -r vendor <"$dir/vendor"
    if [ "$vendor" != 0x10de ] || [ -e "$dir/physfn" ]; then continue; fi
    case $class in
      0x0680??)
        switches=$((switches + 1))
        continue
        ;;
    esac
    if cd -P "$dir/driver"; then bound=${PWD##*/}; fi
    case $bound in *[!A-Za-z0-9_.-]* | "") bound=other ;; esac
    echo "pcigpu ${dir##*/} $bound"
    found=$((found + 1))
    [ "$found" -lt 1024 ] || break
  done
  [ "$found" -ge 1024 ] || echo "nvswitches $switches"
  cd /
}

print_meta() {
  read -r boot </proc/sys/kernel/random/boot_id && echo "meta boot $boot"
  while read -r key value _; do
    [ "$key" != Uid: ] || echo "meta uid $value"
  done </proc/self/status
  read -r up _ </proc/uptime
  shell_start=
  read_stat $$ && shell_start=$stat_start
  # A shell that has begun just now, in hundredths of a second since boot: then there are 100 ticks in one. No fork.
  now=${up%.*} begun=${shell_start%??} ticks=
  if [ "$now" -ge 60 ] && [ "$begun" -le "$now" ] && [ $((now - begun)) -le 60 ]; then ticks=100; fi
  # shellcheck disable=SC2217
  [ -n "$ticks" ] || ticks=$(getconf CLK_TCK </dev/null)
  [ -z "$ticks" ] || echo "meta ticks $ticks"
  [ -z "$up" ] || echo "meta uptime $up"
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
  print_pci
  [ "$all_processes" != 1 ] || print_sessions
}

# Whom every survey shows: pid 1, this shell and whatever is above it.
find_ancestors() {
  near=1 above=$$
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    [ "$above" -gt 1 ] && read_stat "$above" || return 0
    near="$near $above"
    above=$stat_parent
  done
}

# To the main shell: everything has been read.
end_watch() {
  if [ -n "$shell_start" ]; then
    read_stat $$ && [ "$stat_start" = "$shell_start" ] || return 0
  fi
  kill -s "$whole" $$
}

# Whether PID has a handler for the alarm: those who ask nvidia-smi do, nobody else here.
is_asking() {
  while read -r key value _; do
    if [ "$key" = SigCgt: ] && has_signal "$alarm" "$value"; then return 0; fi
  done <"/proc/$1/status"
  return 1
}

# Waits until everything has been read (true) or the time is over. From the end of the budget on, those who ask
# nvidia-smi are told so, again and again.
watch_time() {
  left=$((slack - 1))
  for pause in 1 1 1 1 "$left" 1; do
    wait "$watch"
    watch=
    [ -z "$over" ] || return 0
    [ "$left" -ge 1 ] || return 1
    find_kin $$
    for asker in $kin; do
      if is_asking "$asker"; then kill -s "$alarm" "$asker"; fi
    done
    [ "$pause" -le "$left" ] || pause=$left
    left=$((left - pause))
    # shellcheck disable=SC2217
    sleep "$pause" >/dev/null </dev/null &
    watch=$!
    if [ -n "$over" ]; then
      kill -s KILL "$watch"
      return 0
    fi
  done
}

look() {
  CLEANSLATE_NONCE=$nonce CLEANSLATE_INFO=/proc/driver/nvidia/version
  for file in /proc/driver/nvidia/gpus/*/information; do
    [ ! -e "$file" ] || CLEANSLATE_INFO="$CLEANSLATE_INFO
$file"
  done
  export CLEANSLATE_NONCE CLEANSLATE_INFO
  mig=0
  for dir in /proc/driver/nvidia/capabilities/gpu*/mig/gi*; do [ ! -d "$dir" ] || mig=1; done
  choose_signals
  read_uptime
  until_cs=$((cs + budget * 100))
  find_ancestors
  step=first asked=$optional_columns tries=0 slowest=0
  # What is waited for is a sleep: it ends with the time, or when all is read. Never the pipeline: that ends with the
  # last of its parts, and one may hang. By KILL: a child that is not yet a sleep may lose another signal.
  over=
  # shellcheck disable=SC2217
  sleep "$budget" >/dev/null </dev/null &
  watch=$!
  trap 'over=1; [ -z "$watch" ] || kill -s KILL "$watch"' "$whole"
  queries </dev/null | tag | { join; end_watch; } | cat &
  emitter=$!
  if ! watch_time; then
    find_kin $$
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
