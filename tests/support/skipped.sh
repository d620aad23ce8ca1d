#!/bin/sh
# skipped.sh LOG: the tests that GoogleTest skipped, and those that said "skipped: REASON" at the beginning of a line,
# with their reasons, and their number, from the log of a ctest run (Testing/Temporary/LastTest.log). ctest sees
# whole programs: one that skips all of its tests has passed for it.
set -eu
[ -s "$1" ] || { echo "skipped.sh: ctest left no log ($1): nobody knows what was skipped" >&2; exit 1; }
LC_ALL=C awk '
    # "3/14 Testing: NAME" stands before each program'\''s output.
    /^[0-9]+\/[0-9]+ Testing: / { program = $3; running = 0 }
    /^\[ RUN      \] / { running = 1; reason = ""; in_reason = 0; next }
    /^\[       OK \] / || /^\[  FAILED  \] / { running = 0; next }
    # With the time: once for each test. The list at the end has them once more, without.
    /^\[  SKIPPED \] .* \([0-9]+ ms\)/ {
        count++
        sub(/,$/, "", $4)  # of one with a parameter, which follows
        lines = lines "  " program ": " $4 ": " (running && reason != "" ? reason : "no reason given") "\n"
        running = 0
        next
    }
    # A test without GoogleTest: it ends with what its SKIP_RETURN_CODE is.
    /^skipped: / { count++; lines = lines "  " program ": " substr($0, 10) "\n"; next }
    running && /: Skipped$/ { in_reason = 1; next }
    running && in_reason && $0 != "" { reason = reason (reason == "" ? "" : " ") $0; next }
    { in_reason = 0 }
    END {
        if (count == 0) print "no test was skipped"
        else printf "%d test%s skipped:\n%s", count, (count == 1 ? " was" : "s were"), lines
    }' "$1"
