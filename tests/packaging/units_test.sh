#!/bin/bash
# units_test.sh BUILD_FOLDER: systemd reads the units of packaging/ without a word, finds the nightly sweep hardened, and
# the mail's service one that leaves a sendmail its privileges.
set -euo pipefail
build=$(cd "${1:?usage: units_test.sh BUILD_FOLDER}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
skip() { printf 'skipped: %s\n' "$*"; exit 77; } # ctest's SKIP_RETURN_CODE

# The system's, or one that ./dev took apart under build/: its private library lies beside it.
units=(/usr/lib/systemd/system /lib/systemd/system)
if ! command -v systemd-analyze >/dev/null; then
    unpacked=$root/build/unpacked
    [ -x "$unpacked/usr/bin/systemd-analyze" ] || skip "no systemd-analyze (Debian: systemd; ./dev test unpacks it)"
    PATH=$unpacked/usr/bin:$PATH
    LD_LIBRARY_PATH=$(echo "$unpacked"/usr/lib/*/systemd)
    export LD_LIBRARY_PATH
    units=("$unpacked/usr/lib/systemd/system" "$unpacked/lib/systemd/system")
    systemd-analyze --version >/dev/null 2>&1 || skip "systemd-analyze is unpacked, but libraries that it needs are missing"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$build/cleanslate" "$root/packaging/cleanslate-mail" "$work/bin/"
for unit in "$root"/packaging/*.service "$root"/packaging/*.timer; do
    sed "s|/usr/local/bin/|$work/bin/|g" "$unit" >"$work/${unit##*/}"
done

status=0
SYSTEMD_UNIT_PATH=$(IFS=:; echo "$work:${units[*]}")
export SYSTEMD_UNIT_PATH
said=$(systemd-analyze verify --man=no "$work"/*.service "$work"/*.timer 2>&1) || status=1
[ -z "$said" ] || { printf 'verify says:\n%s\n' "$said"; status=1; }
systemd-analyze security --offline=true --threshold=25 "$root/packaging/cleanslate-nightly.service" >"$work/security" 2>&1 ||
    { cat "$work/security"; status=1; }
tail -1 "$work/security"

# With User=, each of these sets NoNewPrivileges=, and then no setuid or setgid sendmail delivers.
implying='^(NoNewPrivileges|SystemCall|PrivateDevices|PrivateUsers|ProtectKernel|ProtectClock|ProtectHostname|ProtectProc|MemoryDeny|Restrict|LockPersonality|DynamicUser)'
if grep -E "$implying" "$root/packaging/cleanslate-mail.service"; then
    echo "cleanslate-mail.service: its sendmail would gain no privileges"
    status=1
fi
exit "$status"
