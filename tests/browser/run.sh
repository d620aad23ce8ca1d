#!/bin/bash
# run.sh PAGES FOLDER: the browser's tests on what the program PAGES writes, with playwright-core from FOLDER/node_modules.
# Ends with 77 and says why where something is missing that ./dev test would install.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

skip() { echo "skipped: $1"; exit 77; }

chromium=$(command -v chromium) || skip "needs chromium (package chromium)"
command -v node >/dev/null || skip "needs node (package nodejs)"
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 18 ] || skip "needs node 18 or newer, this is $(node --version)"
wanted=$(node -p 'require(process.argv[1]).dependencies["playwright-core"]' "$here/package.json")
found=$(node -p 'require(process.argv[1]).version' "$2/node_modules/playwright-core/package.json" 2>/dev/null) ||
    skip "needs playwright-core $wanted (./dev test installs it by npm)"
[ "$found" = "$wanted" ] || skip "needs playwright-core $wanted, $2 has $found"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$work"
export CHROMIUM=$chromium PLAYWRIGHT=$2 PAGES=$work TMPDIR=$work
status=0
for tests in "$here"/*_test.mjs; do node --test-reporter=spec "$tests" || status=1; done
exit "$status"
