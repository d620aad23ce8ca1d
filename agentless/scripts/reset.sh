# Resets GPUs: daemons in the way are stopped first and started again, whatever happens in between. Goes to the standard
# input of `/bin/sh -s` behind process.sh and acts.sh; POSIX sh, needs awk and sleep. docs/remote-protocol.md has the
# grammar of what it prints and the reasons for its shape.
# shellcheck shell=sh
#
# In front stand: nonce (hex), boot (id), timeout_ms, gpus (bus ids), daemons (units).
# shellcheck disable=SC2154

# Milliseconds until the time is over, at most $1, into left.
read_left() {
  read_ms
  left=$((over - elapsed))
  [ "$left" -le "$1" ] || left=$1
}

# Those that run are stopped in their order, and noted for the start before they are.
stop_daemons() {
  stopped=
  [ -n "$daemons" ] || return 0
  if ! has systemctl; then
    echo "missing systemctl"
    return 0
  fi
  for unit in $daemons; do
    active=0
    read_left 5000
    [ "$left" -gt 0 ] || break
    within "$left" systemctl is-active --quiet "$unit"
    [ "$status" != 0 ] || active=1
    status=-
    if [ "$active" = 1 ]; then
      stopped="$unit $stopped"
      read_left 30000
      [ "$left" -le 0 ] || within "$left" systemctl stop "$unit"
    fi
    printf 'unit %s %s %s\n' "$unit" "$active" "$status"
  done
}

# Always all of them, in the other direction. One for which there is no time left is told to start all the same.
start_daemons() {
  read_ms
  over=$((elapsed + 60000))
  for unit in $stopped; do
    read_left 60000
    [ "$left" -ge 2000 ] || left=2000
    within "$left" systemctl start "$unit"
    printf 'started %s %s\n' "$unit" "$status"
  done
}

# One nvidia-smi in its time, then how it ended. It may hang in the kernel for good: all it has is a pipe.
ask_reset() {
  nvidia-smi --gpu-reset -i "$1" 2>&1 </dev/null &
  child=$!
  begun "$child"
  status=-
  if await "$child" "$start" "$left"; then
    wait "$child"
    status=$?
    [ "$status" -le 255 ] || status=$((status - 128))
  else
    kill -s TERM "$child"
    await "$child" "$start" 2000 || kill -s KILL "$child"
  fi
  echo
  echo "$nonce status $status"
}

# Ends with the status and not with the pipe. False where there is none: then no other one is started beside it.
show_reset() {
  awk -v bus="$1" '
  function esc(s,   out, c) {
    if (s == "") return "-"
    if (s == "-") return "%2d"
    out = ""
    while (match(s, /[^!-$&-~]/)) {
      c = substr(s, RSTART, 1)
      out = out substr(s, 1, RSTART - 1) ((c in hex) ? hex[c] : "%3f")
      s = substr(s, RSTART + 1)
    }
    return out s
  }
  BEGIN {
    for (i = 1; i < 256; i++) hex[sprintf("%c", i)] = sprintf("%%%02x", i)
    mark = ENVIRON["CLEANSLATE_NONCE"] " status "
    status = "-"
  }
  index($0, mark) == 1 { status = substr($0, length(mark) + 1); exit }
  length(text) < 2000 { text = text substr($0, 1, 2000) "\n" }
  END {
    text = substr(text, 1, 2000)
    sub(/\n+$/, "", text)
    print "gpu " bus " " status " " esc(text)
    exit status == "-"
  }'
}

reset_gpus() {
  hung=0
  for bus in $gpus; do
    read_left 3600000
    if [ "$hung" = 1 ] || [ "$left" -le 0 ]; then
      echo "gpu $bus - -"
    else
      ask_reset "$bus" | show_reset "$bus" || hung=1
    fi
  done
}

main() {
  begin
  # Where the connection is gone there is nobody to tell, and still all to do.
  trap '' HUP PIPE
  trap : TERM INT
  if same_boot; then
    read_ms
    over=$((elapsed + timeout_ms))
    stop_daemons
    reset_gpus
    start_daemons
  else
    echo "refused boot"
  fi
  echo "end $nonce"
}

main
