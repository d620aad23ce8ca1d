#!/bin/bash
# minimal_root.sh ROOT PACKAGE...: fills the folder ROOT with a small Debian: what is essential, and the packages named
# with all that these need. All of it is this machine's own, so that nothing is fetched; packages that only this machine
# has, such as those the program was built with, are not in it, nor does its dpkg know them.
set -euo pipefail
root=${1:?usage: minimal_root.sh ROOT PACKAGE...}
shift

# Packages, one a line, that a list like "a (>= 1) | b, c:any" wants: of alternatives the first that is here.
wanted() {
    local entry one
    tr ',' '\n' | while IFS= read -r entry; do
        tr '|' '\n' <<<"$entry" | sed 's/(.*//; s/:.*//; s/[[:blank:]]//g' | while IFS= read -r one; do
            [ -n "$one" ] || continue
            provider "$one" && break
        done
    done
}

# NAME, or who provides it here; status 1: nobody.
provider() {
    local found
    found=$(awk -v name="$1" '$1 == name { print name; exit }
        { for (i = 2; i <= NF; ++i) if ($i == name) { other = $1 } } END { if (other) print other }' "$work/here" | head -n 1)
    [ -n "$found" ] && printf '%s\n' "$found"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A line each: the package and all that it provides.
dpkg-query -W -f '${db:Status-Status}\t${Package} ${Provides}\n' | sed -n 's/^installed\t//p' |
    sed 's/([^)]*)//g; s/,/ /g; s/  */ /g' >"$work/here"
dpkg-query -W -f '${Essential} ${Package}\n' | sed -n 's/^yes //p' >"$work/next"
printf '%s\n' "$@" >>"$work/next"
: >"$work/chosen"
while [ -s "$work/next" ]; do
    sort -u "$work/next" | comm -23 - "$work/chosen" >"$work/new"
    sort -u "$work/new" -o "$work/new"
    sort -u "$work/chosen" "$work/new" -o "$work/chosen"
    # shellcheck disable=SC2016  # dpkg-query's own
    xargs -r dpkg-query -W -f '${Pre-Depends}, ${Depends}\n' <"$work/new" | wanted | sort -u |
        comm -23 - "$work/chosen" >"$work/next"
done

mkdir -p "$root"/{dev,proc,tmp,root,etc,var/log,var/lib/dpkg/{info,updates,triggers}}
chmod 1777 "$root/tmp"
for folder in bin sbin lib lib64 lib32 libx32; do
    [ ! -L "/$folder" ] || { mkdir -p "$root/usr/$folder" && ln -s "usr/$folder" "$root/$folder"; }
done
# Pages and messages of these packages are no part of what is tried.
xargs dpkg-query -L <"$work/chosen" | grep -vE '^/\.$|^/usr/share/(doc|man|locale|info|zoneinfo|i18n)/|^package diverts|^diverted by' |
    while IFS= read -r path; do if [ -e "$path" ] || [ -L "$path" ]; then printf '%s\n' "${path#/}"; fi; done |
    sed -E 's#^(bin|sbin|lib|lib64)/#usr/\1/#' | grep -vxE 'bin|sbin|lib|lib64' | sort -u >"$work/files"
tar -C / --no-recursion -c -T "$work/files" | tar -C "$root" -x
xargs dpkg-query -s <"$work/chosen" >"$root/var/lib/dpkg/status"
while IFS= read -r package; do
    for list in /var/lib/dpkg/info/"$package"{,:*}.list; do [ ! -f "$list" ] || cp "$list" "$root/var/lib/dpkg/info/"; done
done <"$work/chosen"
echo 1 >"$root/var/lib/dpkg/info/format"
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\n' >"$root/etc/group"
[ -e "$root/usr/bin/awk" ] || ln -s "$(basename "$(readlink -f /usr/bin/awk)")" "$root/usr/bin/awk"
ldconfig -r "$root"
