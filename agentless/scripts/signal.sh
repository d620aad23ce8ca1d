# Signals processes and says what became of them. Goes to the standard input of `/bin/sh -s` behind process.sh; POSIX
# sh, needs /proc and sleep. docs/remote-protocol.md has the grammar of what it prints.
# shellcheck shell=sh
#
# In front stand: nonce (hex), signal (name without SIG), wait_ms, boot (id), targets (PID:START ..., in order).
# shellcheck disable=SC2154

# Milliseconds since the first call, into elapsed. /proc/uptime has 10 ms steps. Seconds are made relative first: some
# shells count in 32 bits.
read_clock() {
  read -r clock _ </proc/uptime || return 1
  [ -n "$clock_zero" ] || clock_zero=${clock%.*}
  elapsed=$(((${clock%.*} - clock_zero) * 1000 + (1${clock#*.} - 100) * 10))
}

# ended, changed, zombie or alive, into now. A leader that has ended while other threads live is no zombie.
look_at() {
  stat_state=- stat_parent=-
  if ! read_stat "$1"; then
    now=ended
  elif [ "$stat_start" != "$2" ]; then
    now=changed
  elif [ "$stat_state" = X ]; then
    now=ended
  elif [ "$stat_state" = Z ] && [ "$stat_threads" = 1 ]; then
    now=zombie
  else
    now=alive
  fi
}

# reply PID START RESULT MILLISECONDS: the last word on a target.
reply() {
  echo "reply $1 $2 $3 $4 $stat_state $stat_parent"
}

# pid 1, this shell and everything above it: no target, whatever the list says.
find_ancestors() {
  spared=" 1 "
  one=$$
  while [ "$one" -gt 0 ] && read_stat "$one"; do
    spared="$spared$one "
    one=$stat_parent
  done
}

# Signals the targets in order; those that must be watched go to waiting as PID:START:MILLISECONDS.
send_all() {
  for target in $targets; do
    pid=${target%%:*} start=${target#*:}
    case $spared in
      *" $pid "*)
        stat_state=- stat_parent=-
        reply "$pid" "$start" refused -
        continue
        ;;
    esac
    look_at "$pid" "$start"
    if [ "$now" = alive ]; then
      if kill -s "$signal" "$pid"; then
        echo "sent $pid $start"
        read_clock
        waiting="$waiting $target:$elapsed"
        continue
      fi
      look_at "$pid" "$start"
      [ "$now" != alive ] || now=not-permitted
    fi
    reply "$pid" "$start" "$now" -
  done
}

# One look at all that are waited for. One that has another start time now has ended: it was the right one before.
poll() {
  left=
  for target in $waiting; do
    since=${target##*:} target=${target%:*}
    pid=${target%%:*} start=${target#*:}
    look_at "$pid" "$start"
    read_clock
    case $now in
      alive) left="$left $target:$since" ;;
      zombie)
        # Most parents reap a moment later: it is called a zombie once it has been one for 50 ms.
        case $undead in
          *" $target:"*) first=${undead##*" $target:"} first=${first%% *} ;;
          *) undead="$undead$target:$elapsed " first=$elapsed ;;
        esac
        if [ $((elapsed - first)) -ge 50 ]; then
          reply "$pid" "$start" zombie $((elapsed - since))
        else
          left="$left $target:$since"
        fi
        ;;
      *)
        stat_state=- stat_parent=-
        reply "$pid" "$start" ended $((elapsed - since))
        ;;
    esac
  done
  waiting=$left
}

# Looks are close together at first, when most targets end, and further apart later. A clock that stands still must not
# make the wait endless: naps are counted too.
wait_all() {
  read_clock
  begun=$elapsed napped=20 nap=0.02 nap_ms=20
  sleep 0.02 || nap=1 nap_ms=1000
  while :; do
    poll
    read_clock
    [ -n "$waiting" ] || break
    if [ $((elapsed - begun)) -ge "$wait_ms" ] || [ "$napped" -ge $((wait_ms + 5000)) ]; then break; fi
    sleep "$nap"
    napped=$((napped + nap_ms))
    [ "$nap_ms" != 20 ] || [ "$napped" -lt 200 ] || nap=0.05 nap_ms=50
    [ "$nap_ms" != 50 ] || [ "$napped" -lt 2000 ] || nap=0.1 nap_ms=100
  done
  for target in $waiting; do
    target=${target%:*}
    pid=${target%%:*} start=${target#*:}
    look_at "$pid" "$start"
    [ "$now" != changed ] || now=ended
    reply "$pid" "$start" "$now" -
  done
}

# Pids of another boot, or of another namespace than this /proc shows, are other processes.
refuse_all() {
  stat_state=- stat_parent=-
  for target in $targets; do
    reply "${target%%:*}" "${target#*:}" changed -
  done
}

main() {
  exec 2>/dev/null
  LC_ALL=C
  PATH=${PATH:-/bin}:/usr/bin:/bin
  export LC_ALL PATH
  waiting='' undead=' ' clock_zero='' elapsed=0 me='' boot_now=''
  echo
  echo "begin $nonce 1"
  read -r boot_now </proc/sys/kernel/random/boot_id
  read -r me _ </proc/self/stat
  if [ "$me" != "$$" ] || [ "$boot_now" != "$boot" ]; then
    refuse_all
  else
    find_ancestors
    send_all
    [ -z "$waiting" ] || wait_all
  fi
  echo "end $nonce"
}

main
