# What the scripts that act have in common: lock.sh, reset.sh, shm.sh, reboot.sh. Goes behind process.sh; POSIX sh.
# shellcheck shell=sh
# shellcheck disable=SC2154,SC2217 # nonce, boot: from the script's first lines. What is started must not read the script

has() {
  command -v "$1" >/dev/null
}

begin() {
  exec 2>/dev/null  # no child may own the channel's standard error
  LC_ALL=C
  PATH=${PATH:-/bin}:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin:/usr/local/nvidia/bin:/opt/bin:/usr/lib/wsl/lib
  CLEANSLATE_NONCE=$nonce
  export LC_ALL PATH CLEANSLATE_NONCE
  unset LD_PRELOAD
  clock_zero='' elapsed=0 doze=0.05 doze_ms=50
  set -f
  echo
  echo "begin $nonce 1"
}

# The host is the one that was looked at, and its pids are those of this /proc.
same_boot() {
  boot_now='' me=''
  read -r boot_now </proc/sys/kernel/random/boot_id
  read -r me _ </proc/self/stat
  [ "$boot_now" = "$boot" ] && [ "$me" = "$$" ]
}

# The effective one, into uid.
read_uid() {
  uid=
  while read -r key _ value _; do
    [ "$key" != Uid: ] || uid=$value
  done </proc/self/status
  [ -n "$uid" ]
}

# Milliseconds since the first call, into elapsed; as in signal.sh.
read_ms() {
  read -r clock _ </proc/uptime || return 1
  [ -n "$clock_zero" ] || clock_zero=${clock%.*}
  elapsed=$(((${clock%.*} - clock_zero) * 1000 + (1${clock#*.} - 100) * 10))
}

doze() {
  sleep "$doze" </dev/null || { [ "$doze" = 0.05 ] && doze=1 doze_ms=1000; }
}

# await PID START MS: false where that process has not ended by then. A zombie has. Naps are counted too: a clock that
# stands still must not make the wait endless.
await() {
  read_ms
  await_until=$((elapsed + $3)) napped=0
  while read_stat "$1" && [ "$stat_start" = "$2" ] && [ "$stat_state" != Z ] && [ "$stat_state" != X ]; do
    read_ms
    if [ "$elapsed" -ge "$await_until" ] || [ "$napped" -ge $(($3 + 5000)) ]; then return 1; fi
    doze
    napped=$((napped + doze_ms))
  done
  return 0
}

# begun PID: its start time into start; nothing where it has ended already.
begun() {
  start=
  read_stat "$1" && start=$stat_start
}

# within MS COMMAND...: how it ended into status, - where it did not in time: then it gets a KILL and is left to itself.
within() {
  limit=$1
  shift
  "$@" </dev/null >/dev/null &
  child=$!
  begun "$child"
  if await "$child" "$start" "$limit"; then
    wait "$child"
    status=$?
    [ "$status" -le 255 ] || status=$((status - 128))  # ksh counts signals from 256
  else
    kill -s KILL "$child"
    status=-
  fi
}
