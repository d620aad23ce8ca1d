# The lock of a host: flock on a directory, held by a small process of the host's own. Goes to the standard input of
# `/bin/sh -s` behind process.sh and acts.sh; POSIX sh, needs flock, ls, mkdir, rm and sleep. docs/remote-protocol.md has
# the grammar of what it prints and the reasons for its shape.
# shellcheck shell=sh
#
# In front stand: nonce (hex), act (take or release), who (escaped), wait_ms, keep_ms, keeper (PID:START, to release).
# shellcheck disable=SC2154,SC2217

# A folder of this user that nobody else can open: whoever can open it can hold its lock for ever.
only_own() {
  [ ! -h "$1" ] && [ -d "$1" ] || return 1
  listed=$(ls -ldn "$1" </dev/null) || return 1
  # shellcheck disable=SC2086
  set -- $listed
  case $1 in drwx------*) [ "$3" = "$uid" ] ;; *) return 1 ;; esac
}

# /run/cleanslate for root; for others a folder in their own runtime directory. Tmpfs, all of them.
find_folder() {
  if ! has flock; then
    reason=no%20flock
    return 1
  fi
  reason=no%20directory%20that%20only%20this%20login%20can%20write
  read_uid || return 1
  if [ "$uid" = 0 ]; then
    folder=/run/cleanslate
    mkdir -m 700 "$folder"
    only_own "$folder"
    return
  fi
  for folder in "${XDG_RUNTIME_DIR:-}" "/run/user/$uid"; do
    case $folder in /*) ;; *) continue ;; esac
    only_own "$folder" || continue
    folder=$folder/cleanslate
    mkdir -m 700 "$folder"
    only_own "$folder"
    return
  done
  return 1
}

# What this login hangs on, into tenant as PID:START: the nearest process above that is no shell and none that only
# starts another (its sshd; cleanslate itself for the own host).
find_tenant() {
  tenant='' me=''
  reason=what%20this%20login%20hangs%20on%20cannot%20be%20seen
  read -r me _ </proc/self/stat
  [ "$me" = "$$" ] && read_stat "$$" || return 1
  while one=$stat_parent name='' && [ "$one" -gt 0 ] && read_stat "$one"; do
    read -r name <"/proc/$one/comm" || return 1
    case $name in
      *sh | *ksh93 | busybox | sudo | su | sg | doas | runuser | newgrp | env | timeout | nice | ionice | chrt | taskset | \
        numactl | setsid | nohup | stdbuf | script | unshare | nsenter) ;;
      *)
        tenant=$one:$stat_start
        return 0
        ;;
    esac
  done
  return 1
}

is_alive() {
  read_stat "${1%:*}" && [ "$stat_start" = "${1#*:}" ] && [ "$stat_state" != Z ] && [ "$stat_state" != X ]
}

# Still within the lock. No process stays behind that would hold it on.
let_go() {
  trap '' TERM
  if [ -n "$sleeping" ]; then
    kill -s KILL "$sleeping"
    wait "$sleeping"
  fi
  rm -f "$folder/holder" </dev/null 3<&-
  exit 0
}

# The keeper has the lock in descriptor 3, and nothing of the channel.
keep() {
  sleeping=
  trap let_go TERM
  trap '' HUP INT PIPE
  read_ms
  keep_until=$((elapsed + keep_ms)) seconds=0
  while is_alive "$tenant"; do
    read_ms
    if [ "$elapsed" -ge "$keep_until" ] || [ $((seconds * 1000)) -ge "$keep_ms" ]; then break; fi
    sleep 1 </dev/null 3<&- &
    sleeping=$!
    wait "$sleeping"
    sleeping=
    seconds=$((seconds + 1))
  done
  let_go
}

# What the other one has written of itself, into holder; nothing where that one has ended, or where it is not in the
# form that this script writes.
read_holder() {
  holder='' pid='' since='' text=''
  [ -f "$folder/holder" ] && [ ! -h "$folder/holder" ] || return 1
  # shellcheck disable=SC2046
  set -- $(ls -ln "$folder/holder" </dev/null)
  case $5 in "" | *[!0-9]* | ?????*) return 1 ;; esac
  read -r pid since text <"$folder/holder"
  case $pid$since in "" | *[!0-9]* | ?????????????????????????????*) return 1 ;; esac
  case $text in *[!A-Za-z0-9@.,:_%-]* | -) return 1 ;; esac
  rest=$text
  while :; do
    case $rest in
      *%*) rest=${rest#*%} ;;
      *) break ;;
    esac
    case $rest in [0-9a-f][0-9a-f]*) ;; *) return 1 ;; esac
  done
  is_alive "$pid:$since" && holder=$text
}

# Descriptor 3 is the folder. Waited is 0 only where the first try had it: what was seen of the host before holds then.
take() {
  read_ms
  take_from=$elapsed waited=0
  while :; do
    flock -n 0 <&3 3<&-
    case $? in
      0) break ;;
      1) ;;
      *)
        case $? in 126 | 127) reason=no%20flock ;; *) reason=flock%20failed ;; esac
        echo "lock unavailable $reason $waited"
        return
        ;;
    esac
    read_ms
    waited=$((elapsed - take_from + 1))
    if [ "$waited" -gt "$wait_ms" ]; then
      read_holder
      echo "lock busy ${holder:--} $waited"
      return
    fi
    doze
  done
  ( exec </dev/null >/dev/null; keep ) &
  keeper=$!
  begun "$keeper"
  rm -f "$folder/holder" </dev/null 3<&-
  set -C
  echo "$keeper $start $who" >"$folder/holder"
  set +C
  echo "lock taken $keeper ${start:-0} $waited"
}

# TERM again and again: some shells lose one that comes before the trap for it.
release() {
  read_ms
  release_until=$((elapsed + 1000)) result=gone
  while is_alive "$keeper"; do
    result=released
    kill -s TERM "${keeper%:*}"
    read_ms
    if [ "$elapsed" -ge "$release_until" ]; then
      kill -s KILL "${keeper%:*}"
      break
    fi
    doze
  done
  echo "release $result"
}

main() {
  begin
  if [ "$act" = release ]; then
    me=
    read -r me _ </proc/self/stat
    [ "$me" != "$$" ] || release
  else
    read_ms
    if find_tenant && find_folder; then
      take 3<"$folder" || echo "lock unavailable no%20directory%20that%20can%20be%20opened $elapsed"
    else
      echo "lock unavailable $reason $elapsed"
    fi
  fi
  echo "end $nonce"
}

main
