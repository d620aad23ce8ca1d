#!/bin/bash
# build_libssh2_test.sh: what cmake/build_libssh2.sh reads out of apt's sources, when it builds, and when it does not.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=cmake/build_libssh2.sh
. "$here/../../cmake/build_libssh2.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

expect() {
    [ "$2" = "$1" ] || { printf 'got:\n%s\nwanted:\n%s\n' "$2" "$1"; exit 1; }
}

# Both formats give the same pairs.
cat >"$folder/debian.list" <<'TEXT'
# deb http://old.example/debian bookworm main
deb http://one.example/debian bookworm main contrib  # a remark
deb [ arch=amd64 signed-by=/usr/share/keyrings/x.gpg ] http://one.example/debian bookworm-updates main
   deb-src	http://one.example/debian   bookworm main
deb [trusted=yes] http://one.example/debian-security bookworm-security main
TEXT
cat >"$folder/debian.sources" <<'TEXT'
Types: deb
# URIs: http://old.example/debian
URIs: http://one.example/debian
Suites: bookworm bookworm-updates
Components: main

Types: deb
uris:
 http://one.example/debian-security
 http://two.example/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
TEXT
expect 'http://one.example/debian bookworm
http://one.example/debian bookworm-updates
http://one.example/debian bookworm
http://one.example/debian-security bookworm-security' "$(sources "$folder/debian.list")"
expect 'http://one.example/debian bookworm
http://one.example/debian bookworm-updates
http://one.example/debian-security bookworm-security
http://two.example/debian-security bookworm-security' "$(sources "$folder/debian.sources")"

# What is fetched comes from the machine's mirrors, and only with Debian's signature.
wanted="deb-src [signed-by=$keyring target=Sources] http://one.example/debian $release main
deb-src [signed-by=$keyring target=Sources] http://one.example/debian-security $release-security main"
expect "$wanted" "$(sources "$folder/debian.list" | wanted_sources bookworm)"
expect "$wanted" "$(sources "$folder/debian.sources" | wanted_sources bookworm)"
# Third parties and disks are no mirrors of Debian; security updates alone are not enough.
expect '' "$(printf '%s\n' 'http://three.example/tool bookworm' 'cdrom:[disk]/ bookworm' | wanted_sources bookworm)"
expect "$(echo "$wanted" | head -n 1)" "$(printf '%s\n' 'http://three.example/debian bookworm' \
    'http://one.example/debian bookworm-updates' | wanted_sources bookworm)"
expect "$(echo "$wanted" | head -n 1)" "$(echo 'http://one.example/debian bookworm' | wanted_sources bookworm)"
expect '' "$(echo 'http://one.example/debian-security bookworm-security' | wanted_sources bookworm)"

# apt trusts nothing but that signature, and writes into that folder.
configuration=$(apt_configuration "$folder")
case $configuration in *'AllowInsecureRepositories "false"'*) ;; *) echo 'unsigned lists would be taken'; exit 1 ;; esac
expect '' "$(printf '%s\n' "$configuration" | grep -i 'trusted=\|allow.*"true"' || true)"
for setting in Dir::State Dir::State::lists Dir::Cache Dir::Etc::sourcelist; do
    printf '%s\n' "$configuration" | grep -q "^$setting \"$folder/" || { echo "$setting is the system's"; exit 1; }
done

# What is built stays until its recipe or the least version changes.
built() { if is_built "$folder/prefix"; then echo built; else echo missing; fi; }
expect missing "$(built)"
mkdir -p "$folder/prefix/lib"
touch "$folder/prefix/lib/libssh2.a"
expect missing "$(built 2>/dev/null)"
echo "$at_least" >"$folder/prefix/version"
stamp "$at_least" >"$folder/prefix/stamp"
expect built "$(built)"
echo "$at_least, recipe 0" >"$folder/prefix/stamp"
expect missing "$(built)"
if command -v dpkg >/dev/null; then
    echo 1.11.1-1 >"$folder/prefix/version"
    stamp 1.11.1-1 >"$folder/prefix/stamp"
    expect missing "$(built)"
fi

# A failure keeps it from trying for a day.
again() { if failed_today "$folder/failed"; then echo waits; else echo tries; fi; }
expect tries "$(again)"
touch "$folder/failed"
expect waits "$(again)"
touch -d '25 hours ago' "$folder/failed"
expect tries "$(again)"
