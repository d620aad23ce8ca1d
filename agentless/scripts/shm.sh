# Removes files right in /dev/shm, each only while it is the one that was listed and nobody uses it. Goes to the standard
# input of `/bin/sh -s` behind process.sh, leftovers.sh and acts.sh; POSIX sh, needs awk, stat and rm.
# docs/remote-protocol.md has the grammar of what it prints and the reasons for its shape.
# shellcheck shell=sh
#
# In front stand: nonce (hex), boot (id), files (DEVICE:INODE:BYTES:CHANGED:NAME:PATTERN ..., NAME with all but letters,
# digits and ._- as \0OOO, PATTERN with a ? in place of each of these).
# shellcheck disable=SC2154,SC2217

each() {  # RESULT: for all of $chunk
  for file in $chunk; do tell "$1"; done
}

tell() {
  inode=${file#*:}
  echo "file ${file%%:*} ${inode%%:*} $1"
}

# DEVICE:INODE of those of $chunk that somebody has open or mapped now, each a line; at the end `whole`, if everybody
# could be looked at. The same look as the survey's.
look() {
  wanted='' patterns=''
  for file in $chunk; do
    inode=${file#*:}
    wanted="$wanted ${file%%:*}:${inode%%:*}"
    patterns="$patterns ${file##*:}"
  done
  # shellcheck disable=SC2016
  awk -v shm="$patterns" -v wanted="$wanted" "$leftovers"'
  function esc(s) { return s }
  function stat_of(p,   file, line, text) {
    file = "/proc/" p "/stat"
    text = ""
    while ((getline line < file) > 0) text = text line " "
    close(file)
    return text
  }
  # Nothing of p could be read, or there was nothing: that of one whose first thread has ended while others live says
  # nothing of what these have open.
  function note_blind(p, refused,   text, f) {
    text = stat_of(p)
    if (!match(text, /\)[^)]*$/)) return
    split(substr(text, RSTART + 2), f, " ")
    if (int(f[7] / 2097152) % 2) return
    if (f[1] == "Z" ? f[18] > 1 : refused) shm_whole = 0
  }
  function look_open(   cmd, line, ok) {
    cmd = "look() { find /proc/self \"$@\" -maxdepth 1 " shm_links() "-path /proc/self -printf \"ok\\0\" -prune; }; " \
      "n=0 some=; for p in /proc/[0-9]*; do some=\"$some $p/fd\" n=$((n + 1)); " \
      "[ $n -lt 2000 ] || { look $some; n=0 some=; }; done; look $some"
    cmd = "{ " cmd "; } 2>/dev/null </dev/null | tr \"\\n\\000\" \"\\001\\n\""
    while ((cmd | getline line) > 0) {
      if (line == "ok") ok = 1
      else if (index(line, "shm ") == 1) shm_candidate(substr(line, 5))
    }
    close(cmd)
    if (ok) return
    cmd = "for f in /proc/[0-9]*/fd/*; do echo \"$f\"; done 2>/dev/null </dev/null"
    while ((cmd | getline line) > 0) shm_candidate(line)
    close(cmd)
  }
  function look_mapped(   cmd, p, file, line, got, seen, f) {
    cmd = "for p in /proc/[0-9]*; do echo \"${p#/proc/}\"; done"
    while ((cmd | getline p) > 0) {
      file = "/proc/" p "/maps"
      seen = 0
      while ((got = (getline line < file)) > 0) {
        seen = 1
        if (split(line, f, " ") > 4 && ((f[4] " " f[5]) in shm_map)) shm_user(shm_map[f[4] " " f[5]], p)
      }
      close(file)
      if (!seen) note_blind(p, got < 0)
    }
    close(cmd)
  }
  BEGIN {
    n = split(wanted, one, " ")
    for (i = 1; i <= n; i++) {
      split(one[i], f, ":")
      shm_key_of(f[1], f[2])
    }
    shm_files = n
    shm_whole = 1
    look_open()
    look_shm_open()
    look_mapped()
    for (key in shm_users) { sub(/ /, ":", key); print key }
    if (shm_whole) print "whole"
  }'
}

# The name into name. Most need no child.
decode() {
  name=$1
  case $name in
    *\\*)
      name=$(printf '%b' "${1}x" </dev/null)
      name=${name%x}
      ;;
  esac
}

# Of the file $file: `changed` into now where another one has that name, else nothing.
compare() {
  now=$(stat -c '%d:%i:%s %h %Y %Z %f' "./$name" </dev/null) || return 1
  # shellcheck disable=SC2086
  set -- $now
  changed=$3
  [ "$4" -le "$3" ] || changed=$4
  now=changed
  case $file in "$1:$changed:"*) ;; *) return 0 ;; esac
  case $2$5 in 18[0-9a-f][0-9a-f][0-9a-f]) now= ;; esac
}

is_there() {
  [ -h "./$name" ] || [ -e "./$name" ]
}

# One file, right before its end.
remove() {
  fields=${file#*:*:*:*:}
  decode "${fields%:*}"
  read_ms
  if [ "$elapsed" -ge "$over" ]; then
    tell unreadable
  elif ! is_there; then
    tell gone
  elif ! compare; then
    if is_there; then tell unreadable; else tell gone; fi
  elif [ -n "$now" ]; then
    tell changed
  elif ! rm -f -- "./$name" </dev/null || is_there; then
    tell not-permitted
  else
    tell removed
  fi
}

remove_chunk() {
  used=$(look </dev/null)
  case $used in
    whole | *"
whole") ;;
    *)
      each unreadable
      return
      ;;
  esac
  used="
$used
"
  for file in $chunk; do
    inode=${file#*:}
    case $used in
      *"
${file%%:*}:${inode%%:*}
"*) tell in-use ;;
      *) remove ;;
    esac
  done
}

# Some at a time: between the look and the end of a file should be moments.
work() {
  count=0 chunk=$files
  if [ "$boot_is_same" = 0 ]; then
    each changed
    return
  elif ! cd -P /dev/shm; then
    each unreadable
    return
  fi
  chunk=
  for next in $files; do
    chunk="$chunk $next" count=$((count + 1))
    [ "$count" -ge 64 ] || continue
    remove_chunk
    count=0 chunk=
  done
  [ -z "$chunk" ] || remove_chunk
}

# Reading a wedged process's maps never comes back: then the worker is ended, and what it waits for owns nothing here.
supervise() {
  work &
  worker=$!
  begun "$worker"
  await "$worker" "$start" 60000 && return
  kill -s KILL "$worker"
  echo
  echo "cut"
}

main() {
  begin
  boot_is_same=0
  if same_boot; then boot_is_same=1; fi
  read_ms
  over=$((elapsed + 60000))
  supervise </dev/null | cat &
  emitter=$!
  begun "$emitter"
  await "$emitter" "$start" 62000 || kill -s KILL "$emitter"
  echo "end $nonce"
}

main
