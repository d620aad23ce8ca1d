#!/bin/bash
# Each header compiles alone. Usage: headers.sh [COMPILER]
set -u
cd "$(dirname "$0")/../.." || exit 2
compiler=${1:-g++}
mapfile -t headers < <(git ls-files 'base/*.hpp' 'inventory/*.hpp' 'playbooks/*.hpp' 'agentless/*.hpp' 'controller/*.hpp')
[ ${#headers[@]} -gt 0 ] || exit 2
if ! printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I{} "$compiler" -std=c++23 -I. -fsyntax-only -w \
    -DBOOST_ASIO_NO_DEPRECATED -DBOOST_ASIO_SEPARATE_COMPILATION -x c++ {}; then
    echo "headers: the ones named above do not compile alone"
    exit 1
fi
echo "headers: all ${#headers[@]} compile alone"
