#!/bin/bash
# What one survey costs a host of 2,000 processes and 20,000 open files (namespaces of its own, own /dev/nvidia* files,
# a stand-in for nvidia-smi), as a ratio to one `find -lname`, one `grep` over maps and one `cat` over stat, by turns;
# and how many processes a survey starts on an idle host. Status 1 where a figure is above its bar.
# Usage: remote_cost.sh BUILD_FOLDER [ROUNDS]    (after `ninja remote_cost` in it; as root)
set -euo pipefail
build=$(cd "${1:?usage: remote_cost.sh BUILD_FOLDER [ROUNDS]}" && pwd)
program=$build/bench/remote_cost
[ -x "$program" ] || { echo "remote_cost: $program is not built (ninja remote_cost)" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "remote_cost: needs root (namespaces, mounts)" >&2; exit 1; }
# shellcheck disable=SC2185  # find has no path to search here
printf 'machine: %s, %s cores, Linux %s, load %s; %s, %s, %s\n' \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed -n 1p)" "$(nproc)" "$(uname -r)" \
    "$(cut -d ' ' -f 1 /proc/loadavg)" "sh is $(basename "$(readlink -f /bin/sh)")" \
    "awk is $(basename "$(readlink -f "$(command -v awk)")")" "$(find --version | sed -n 1p)"
exec "$program" "${2:-5}"
