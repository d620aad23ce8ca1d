#!/bin/bash
# skipped_test.sh PROGRAM: what skipped.sh says after ctest has run PROGRAM (skipping.cpp) twice, and a program that
# skips nothing.
set -euo pipefail
unset GTEST_FILTER
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
log=Testing/Temporary/LastTest.log

expect() {
    local said
    said=$(sh "$here/skipped.sh" "$log")
    [ "$said" = "$1" ] || { printf 'said:\n%s\nwanted:\n%s\n' "$said" "$1"; cat "$log"; exit 1; }
}

printf 'add_test(all "%s")\nadd_test(one "%s" "--gtest_filter=*SaysWhy")\n' "$1" "$1" >CTestTestfile.cmake
ctest >/dev/null
expect '4 tests were skipped:
  all: Fixture.IsSkippedBeforeItBegins: needs root and a machine
  all: Skipping.SaysWhy: needs sudo (package sudo)
  all: Skipping.SaysNothing: no reason given
  one: Skipping.SaysWhy: needs sudo (package sudo)'

printf 'add_test(one "%s" "--gtest_filter=*SaysWhy")\n' "$1" >CTestTestfile.cmake
ctest >/dev/null
expect '1 test was skipped:
  one: Skipping.SaysWhy: needs sudo (package sudo)'

printf '%s\n' 'add_test(script sh -c "echo skipped: needs a library; exit 77")' \
    'set_tests_properties(script PROPERTIES SKIP_RETURN_CODE 77)' >CTestTestfile.cmake
ctest >/dev/null
expect '1 test was skipped:
  script: needs a library'

printf 'add_test(none "%s" "--gtest_filter=*Runs")\n' "$1" >CTestTestfile.cmake
ctest >/dev/null
expect 'no test was skipped'

# Nothing known is not the same as nothing skipped.
rm "$log"
if sh "$here/skipped.sh" "$log" 2>/dev/null; then
    echo 'it found nothing skipped in a log that is not there'
    exit 1
fi
