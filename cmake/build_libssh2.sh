#!/bin/bash
# Which libssh2 is linked: the system's where it is 1.11 or newer; else, on Debian, the patched source package of the
# next release, built once into build/libssh2 (plain upstream 1.11.1 lacks the security fixes); else the system's, and
# one line says why and what that costs. Prints the prefix of the built one, or nothing for the system's.
#
#   build_libssh2.sh           as above; what is built stays, and what failed is not tried again within a day
#   build_libssh2.sh --again   fetches and builds whatever was built or failed before
#   build_libssh2.sh --needs   prints the Debian packages that it lacks and would use
#   build_libssh2.sh --failed REASON  keeps it from trying within a day
#   CLEANSLATE_SYSTEM_LIBSSH2=1 takes the system's in any case
#
# apt checks the signature of the package lists and, through them, of the source. It has an own configuration here: the
# system's lists, cache and sources are read for the mirror's address and otherwise left alone.
set -euo pipefail

release=trixie                 # whose source package it is
at_least='1.11.1-1+deb13u2'    # older ones lack security fixes, and a mirror may be old
recipe=2                       # goes up when what is built below changes
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
again=                         # not empty: build although one is there
fetch_limit=120                # seconds for each of the two downloads; a mirror that is silent costs about twenty

say() { printf '\n== %s\n' "$*" >&2; }

# Each mirror and suite of apt's sources, in either format: sources FILE...
sources() {
    local file
    for file in "$@"; do
        case $file in
            *.sources) deb822_sources "$file" ;;
            *) one_line_sources "$file" ;;
        esac
    done
}

# deb [options] URI SUITE COMPONENT...
one_line_sources() {
    awk '{ sub(/#.*/, "") }
        $1 == "deb" || $1 == "deb-src" {
            sub(/^[ \t]*deb(-src)?[ \t]+/, "")
            sub(/^\[[^]]*\][ \t]*/, "")
            if (NF >= 2) print $1, $2
        }' "$1"
}

# Stanzas of "Field: values"; a line that begins with a blank goes on with the field before it.
deb822_sources() {
    awk 'function flush(    uri, suite, u, s, uris, suites) {
            u = split(field["uris"], uris); s = split(field["suites"], suites)
            if (tolower(field["enabled"]) !~ /^[ \t]*(no|false|without|off|disable|0)[ \t]*$/)
                for (uri = 1; uri <= u; ++uri)
                    for (suite = 1; suite <= s; ++suite) print uris[uri], suites[suite]
            split("", field); name = ""
        }
        /^#/ { next }
        /^[ \t]*$/ { flush(); next }
        /^[ \t]/ { field[name] = field[name] " " $0; next }
        { name = tolower($0); sub(/[ \t]*:.*/, "", name); sub(/^[^:]*:/, ""); field[name] = $0 }
        END { flush() }' "$1"
}

# From "URI SUITE" lines, the sources of the release that is wanted: wanted_sources CODENAME. Third parties use Debian's
# suite names too: its own mirror is the first that has CODENAME-updates, or else whose path ends in /debian.
wanted_sources() {
    awk -v from="$1" -v to="$release" -v key="$keyring" '
        function source(uri, suite) {
            print "deb-src [signed-by=" key " target=Sources] " uri " " suite " main"
        }
        $1 ~ /^cdrom:/ { next }
        $2 == from "-updates" && !updates { updates = $1 }
        $2 == from && $1 ~ /\/debian\/*$/ && !plain { plain = $1 }
        $2 == from "-security" && !security { security = $1 }
        END {
            if (updates) plain = updates
            if (plain) source(plain, to)
            if (plain && security) source(security, to "-security")
        }'
}

# The machine's source files, as its apt is configured.
source_files() {
    local list='' parts='' file
    eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    for file in "$list" "${parts%/}"/*.list "${parts%/}"/*.sources; do
        [ ! -f "$file" ] || printf '%s\n' "$file"
    done
}

# The apt configuration under FOLDER, in which nothing of the system is written or trusted: apt_configuration FOLDER.
# The system's proxies stay.
apt_configuration() {
    local sandbox=''
    # apt gives up root's rights for downloads: only where _apt gets to the folder.
    if [ "$(id -u)" -eq 0 ] && ! setpriv --reuid=_apt --clear-groups test -x "$1" 2>/dev/null; then
        sandbox='APT::Sandbox::User "root";'
    fi
    cat <<TEXT
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::State "$1/state";
Dir::State::lists "$1/lists";
Dir::State::status "/dev/null";
Dir::Cache "$1/cache";
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::trusted "/dev/null";
Dir::Etc::trustedparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Default-Release "";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::Languages "none";
Acquire::PDiffs "false";
Acquire::Retries "0";
Acquire::http::Timeout "5";
Acquire::https::Timeout "5";
$sandbox
TEXT
}

# --- steps: each says on its last line of stderr why it failed ---------------------------------------------------------

# What stands in the way on this machine, whatever the network gives; empty where nothing does.
obstacle() {
    is_debian || { echo 'a newer one is built on Debian only'; return; }
    local command
    for command in apt-get setpriv cmake ninja cc; do
        command -v "$command" >/dev/null || { echo "no $command here to build a newer one with"; return; }
    done
    command -v dpkg-source >/dev/null || { echo 'no dpkg-source here (package dpkg-dev)'; return; }
    [ -r "$keyring" ] || { echo "no $keyring to check a newer one with (package debian-archive-keyring)"; return; }
}

os_release() { sed -n "s/^$1=\"\\{0,1\\}\\([^\"]*\\).*/\\1/p" /etc/os-release 2>/dev/null || true; }
is_debian() { [ "$(os_release ID)" = debian ]; }

# Into FOLDER: fetch FOLDER
fetch() {
    local folder=$1 apt=$1/apt codename version
    mkdir -p "$apt"/{lists,cache/archives,state}/partial "$folder/source"
    codename=$(os_release VERSION_CODENAME)
    local files=()
    mapfile -t files < <(source_files)
    [ ${#files[@]} -eq 0 ] || sources "${files[@]}" | wanted_sources "$codename" >"$apt/sources.list"
    [ -s "$apt/sources.list" ] || { echo "apt's sources name no mirror of $codename" >&2; return 1; }
    apt_configuration "$apt" >"$apt/apt.conf"
    timeout "$fetch_limit" apt-get -c "$apt/apt.conf" -q --error-on=any update ||
        { echo "apt could not fetch the package lists of $release" >&2; return 1; }
    (cd "$folder/source" && timeout "$fetch_limit" \
        apt-get -c "$apt/apt.conf" -q --download-only --only-source source libssh2) ||
        { echo "apt could not fetch the source of libssh2" >&2; return 1; }
    version=$(sed -n 's/^Version: //p' "$folder"/source/libssh2_*.dsc | head -n 1)
    dpkg --compare-versions "$version" ge "$at_least" ||
        { echo "the mirror has libssh2 $version, which lacks the fixes of $at_least" >&2; return 1; }
    printf '%s\n' "$version" >"$folder/version"
}

# From FOLDER into its `prefix`: compile FOLDER
compile() {
    local folder=$1 prefix=$1/prefix
    dpkg-source --no-copy -x "$folder"/source/libssh2_*.dsc "$folder/tree" ||
        { echo "dpkg-source could not unpack it" >&2; return 1; }
    patch -d "$folder/tree" -p1 <cmake/libssh2_announcements.patch ||
        { echo "libssh2_announcements.patch does not fit it" >&2; return 1; }
    local options=(
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON
        "-DCMAKE_C_FLAGS=-D_FORTIFY_SOURCE=2 -fstack-protector-strong"
        -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
        -DBUILD_STATIC_LIBS=ON -DBUILD_SHARED_LIBS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_TESTING=OFF
        -DCRYPTO_BACKEND=OpenSSL -DENABLE_ZLIB_COMPRESSION=OFF)
    if ! { cmake -S "$folder/tree" -B "$folder/build" -G Ninja "${options[@]}" && ninja -C "$folder/build" install; }
    then
        echo "libssh2 did not compile" >&2
        return 1
    fi
    rm -rf "$prefix/share" "$prefix"/lib/{cmake,pkgconfig}  # manuals, and files that name another prefix
    cp "$folder/tree/COPYING" "$folder/version" "$prefix/"
    stamp "$(cat "$folder/version")" >"$prefix/stamp"
}

stamp() { printf '%s, recipe %s\n' "$1" "$recipe"; }

# Whether PREFIX holds what would be built now, or newer: is_built PREFIX
is_built() {
    local version=''
    [ -f "$1/lib/libssh2.a" ] && read -r version <"$1/version" &&
        [ "$(stamp "$version")" = "$(cat "$1/stamp" 2>/dev/null)" ] &&
        { [ "$version" = "$at_least" ] || dpkg --compare-versions "$version" ge "$at_least"; }
}

failed_today() { [ -n "$(find "$1" -mmin -1440 2>/dev/null)" ]; }

# `folder` is the caller's.
fall_back() {
    # shellcheck disable=SC2154
    if is_built "$folder/libssh2"; then
        printf 'libssh2: the one that was built before is kept: %s\n' "$1" >&2
        return
    fi
    printf 'libssh2: the system'"'"'s %s is used: %s. It costs RSA keys (OpenSSH 8.8 refuses its SHA-1), %s\n' \
        "$(pkg-config --modversion libssh2 2>/dev/null || echo '(none)')" "$1" \
        "hosts with only -etm MACs or only an RSA key, and ed25519 certificates" >&2
}

# Builds under FOLDER/libssh2, or says why not.
build() {
    local folder=$1 work=$1/libssh2.work log=$1/libssh2.log failed=$1/libssh2.failed
    local reason
    reason=$(obstacle)
    [ -z "$reason" ] || { fall_back "$reason"; return; }
    if failed_today "$failed"; then
        fall_back "$(cat "$failed") (tried within the last day; cmake/build_libssh2.sh --again tries now)"
        return
    fi
    say "building the patched libssh2 of Debian's $release into $folder/libssh2, once"
    rm -rf "$work" "$failed"
    mkdir -p "$work"
    # `set -e` does not hold left of `||`, so each step ends itself.
    if { fetch "$work" && compile "$work"; } >"$log" 2>&1; then
        rm -rf "$folder/libssh2"
        mv "$work/prefix" "$folder/libssh2"
        rm -rf "$work"
    else
        reason="$(tail -n 1 "$log") (see ${log#"$PWD"/})"
        printf '%s\n' "$reason" >"$failed"
        rm -rf "$work"
        fall_back "$reason"
    fi
}

# The packages that building takes and that are not here; none where nothing is to be built.
needs() {
    local folder=$1 candidate=''
    is_debian && ! command -v dpkg-source >/dev/null && ! is_built "$folder/libssh2" &&
        ! failed_today "$folder/libssh2.failed" || return 0
    candidate=$(apt-cache show --no-all-versions libssh2-1-dev 2>/dev/null | sed -n 's/^Version: //p')
    [ -z "$candidate" ] || ! dpkg --compare-versions "$candidate" ge 1.11 || return 0
    echo dpkg-dev
}

# Waits for another one that builds into FOLDER, and builds only what that one has not: build_alone FOLDER
build_alone() {
    mkdir -p "$1"
    exec 9>"$1/libssh2.lock"
    if ! flock -w 900 9; then
        fall_back "another build has held $1/libssh2.lock for a quarter of an hour"
        return
    fi
    { [ -z "$again" ] && is_built "$1/libssh2"; } || build "$1" 9>&-
}

main() {
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    local folder=$PWD/build
    [ -z "${CLEANSLATE_SYSTEM_LIBSSH2:-}" ] || return 0
    case ${1:-} in
        --needs) needs "$folder"; return ;;
        --failed) mkdir -p "$folder"; printf '%s\n' "$2" >"$folder/libssh2.failed"; return ;;
    esac
    ! pkg-config --atleast-version=1.11 libssh2 || return 0
    if [ "${1:-}" = --again ]; then  # what is there stays until the new one is
        again=yes
        rm -f "$folder/libssh2.failed"
    fi
    { [ -z "$again" ] && is_built "$folder/libssh2"; } || build_alone "$folder"
    ! is_built "$folder/libssh2" || printf '%s\n' "$folder/libssh2"
}

# Sourced by its test.
[ "${BASH_SOURCE[0]}" != "$0" ] || main "$@"
