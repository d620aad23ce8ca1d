#!/bin/bash
# package_test.sh BUILD_FOLDER: the Debian package, in a root that has what it depends on and no more: it installs, runs,
# and is removed without a trace. Before that: lintian accepts it, nothing of it starts by itself, man has nothing to say
# about its pages, and made again it is the same file.
set -euo pipefail
build=$(cd "${1:?usage: package_test.sh BUILD_FOLDER}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
skip() { printf 'skipped: %s\n' "$*"; exit 77; } # ctest's SKIP_RETURN_CODE
for tool in cpack dpkg-deb dpkg-shlibdeps file unshare; do
    command -v "$tool" >/dev/null || skip "no $tool here"
done
[ "$(id -u)" -eq 0 ] || skip "needs root: for a root of its own"
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces for mounts and processes here"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root status=0
export SOURCE_DATE_EPOCH=1767225600 LC_ALL=C.UTF-8
fault() { printf 'FAULT: %s\n' "$*"; status=1; }

make_package() { # FOLDER: prints the file
    (cd "$build" && cpack -G DEB -B "$1") >"$1.log" 2>&1 || { cat "$1.log" >&2; exit 1; }
    echo "$1"/*.deb
}

check_the_file() {
    cmp "$package" "$(make_package "$work/again")" || fault "made again it is another file"
    if command -v lintian >/dev/null; then
        lintian --allow-root --fail-on error,warning "$package" || fault "lintian does not accept it"
    else
        echo "not tried: no lintian here"
    fi
    dpkg-deb -e "$package" "$work/control"
    [ "$(cd "$work/control" && echo *)" = 'control md5sums' ] || fault "it brings scripts along"
}

# Runs a command in the root, with its own processes and /proc.
inside() {
    # shellcheck disable=SC2016  # the inner shell's
    unshare --mount --pid --fork --propagation private sh -c '
        root=$1; shift
        mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" || exit 99
        exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"' \
        sh "$root" "$@"
}

# expect STATUS TEXT COMMAND...: it ends with the status and says the text. Standard input is the caller's.
expect() {
    local wanted=$1 text=$2 ended=0 said
    shift 2
    said=$(inside "$@" 2>&1) || ended=$?
    [ "$ended" -eq "$wanted" ] || fault "$* ended with $ended: $said"
    case $said in *"$text"*) ;; *) fault "$* does not say '$text': $said" ;; esac
}

# All that is in the root but dpkg's own books.
trace() {
    (cd "$root" && find . \( -path ./proc -o -path ./dev \) -prune -o \
        ! -path './var/lib/dpkg/*' ! -path './var/log/*' ! -type d -printf '%y %m %u:%g %s %p %l\n' -o \
        -type d ! -path './var/lib/dpkg/*' ! -path './var/log/*' -printf 'd %m %u:%g %p\n' | sort)
}

runs() {
    expect 0 "cleanslate $(dpkg-deb -f "$package" Version)" cleanslate --version </dev/null
    expect 0 'by-holder' cleanslate playbooks </dev/null
    expect 0 'clean' cleanslate parse --expect 1 <<<'0, 0 MiB'
    expect 1 'dirty' cleanslate parse --expect 1 <<<'0, 76107 MiB'
    expect 3 'unknown' cleanslate check --local --no-history </dev/null
    expect 0 'gpu[01-08]' cleanslate hosts --folded -i /usr/share/doc/cleanslate/examples/inventory.yaml </dev/null
    expect 2 '--deliver' cleanslate-mail </dev/null
    # shellcheck disable=SC2016  # the inner shell's
    expect 0 '<clear>' bash -c '. /usr/share/bash-completion/completions/cleanslate
        COMP_LINE="cleanslate cle" COMP_POINT=14 COMP_WORDS=(cleanslate cle) COMP_CWORD=1
        _cleanslate; printf "<%s>" "${COMPREPLY[@]}"' </dev/null
}

check_what_lies_there() {
    local page file documentation=$root/usr/share/doc/cleanslate
    # Pages, some of which are compressed, name what the package has.
    ! zgrep -n 'packaging/\(slurm\|kubernetes\)' "$documentation"/*.md* || fault "a page names a folder of the sources"
    zgrep -oh 'examples/[a-z]*/[a-z.]*[a-z]' "$documentation"/*.md* | sort -u >"$work/named"
    grep -q kubernetes "$work/named" || fault "no page names an example"
    while read -r file; do
        [ -e "$documentation/$file" ] || fault "a page names $file, which is not there"
    done <"$work/named"
    for file in zsh/vendor-completions/_cleanslate fish/vendor_completions.d/cleanslate.fish; do
        [ -s "$root/usr/share/$file" ] || fault "no $file"
    done
    for page in man1/cleanslate.1 man1/cleanslate-mail.1 man5/cleanslate-inventory.5 man5/cleanslate-playbook.5 \
        man7/cleanslate-protocol.7; do
        file=$root/usr/share/man/$page.gz
        [ -s "$file" ] || { fault "no $page"; continue; }
        if command -v man >/dev/null; then
            MANWIDTH=80 man --warnings -l "$file" >"$work/page" 2>"$work/said" || fault "man cannot read $page"
            [ ! -s "$work/said" ] || fault "man on $page: $(head -n 3 "$work/said")"
            grep -q NAME "$work/page" || fault "$page has no NAME"
        fi
        if command -v mandoc >/dev/null; then
            zcat "$file" | mandoc -T lint || fault "mandoc complains of $page"
        fi
    done
    ! grep -n /usr/local "$root"/usr/lib/systemd/system/cleanslate* || fault "a unit of the package names /usr/local"
    [ -z "$(find "$root/etc" -name '*cleanslate*')" ] || fault "something is enabled, or configured, by installing it"
}

package=$(make_package "$work/made")
check_the_file
mapfile -t depends < <(dpkg-deb -f "$package" Depends | tr ',' '\n' | sed 's/(.*//; s/ //g')
"$here/minimal_root.sh" "$root" "${depends[@]}"
cp "$package" "$root/tmp/cleanslate.deb"
mkdir -p "$root/var/log/apt"
trace >"$work/before"
inside dpkg --install /tmp/cleanslate.deb >"$work/dpkg" 2>&1 || { cat "$work/dpkg"; exit 1; }
runs
check_what_lies_there
inside dpkg --purge cleanslate >"$work/dpkg" 2>&1 || { cat "$work/dpkg"; fault "it cannot be removed"; }
trace >"$work/after"
diff "$work/before" "$work/after" || fault "it leaves something behind"
! grep -q cleanslate "$root/var/lib/dpkg/status" || fault "dpkg still knows it"
exit "$status"
