# What both remote primitives need to know of a process. Part of each script that is sent; POSIX sh.
# shellcheck shell=sh
# shellcheck disable=SC2034 # the fields are for the callers

# Fields of /proc/PID/stat into stat_*. The name may hold blanks, newlines and parentheses, so they are counted from
# the last one. No fork.
read_stat() {
  stat_text=
  while IFS= read -r stat_line; do
    stat_text="$stat_text$stat_line "
  done <"/proc/$1/stat" || return 1
  case $stat_text in *") "*) ;; *) return 1 ;; esac
  set -f
  # shellcheck disable=SC2086
  set -- ${stat_text##*") "}
  set +f
  [ $# -ge 20 ] || return 1
  stat_state=$1 stat_parent=$2 stat_threads=${18} stat_start=${20}
}
