#!/bin/bash
# Builds every harness with libFuzzer, ASan and UBSan and runs each for SECONDS. Usage: run.sh SECONDS
# std::expected needs clang 19 with libstdc++.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:?}
folder=build/fuzz
mkdir -p "$folder"
libssh2=$(cmake/build_libssh2.sh)
cmake -S . -B "$folder" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++-19 \
    -DCLEANSLATE_FUZZ=ON -DCLEANSLATE_LIBSSH2_PREFIX="$libssh2" >"$folder.configure.log" 2>&1 || { cat "$folder.configure.log"; exit 1; }
ninja -C "$folder" --quiet fuzzers
for harness in "$folder"/tests/fuzz/*_fuzz; do
    name=$(basename "$harness" _fuzz)
    mkdir -p "$folder/corpus/$name"
    echo "== $name"
    "$harness" -max_total_time="$seconds" -print_final_stats=1 -verbosity=0 -timeout=10 -rss_limit_mb=2048 \
        "$folder/corpus/$name" "tests/fuzz/corpus/$name"
done
echo "fuzz: no finding"
