#!/bin/bash
# completion_test.sh BUILD_FOLDER SHELL: what the shell, bash, zsh or fish, makes of command lines that end at the
# cursor, by its real completion; and that nothing which a name or an answer holds is run by it.
set -euo pipefail
build=$(cd "${1:?usage: completion_test.sh BUILD_FOLDER SHELL}" && pwd)
shell=${2:?}
here=$(cd "$(dirname "$0")" && pwd)
skip() { printf 'skipped: %s\n' "$*"; exit 77; } # ctest's SKIP_RETURN_CODE
command -v "$shell" >/dev/null || skip "no $shell here"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p bin home functions nightly
ln -s "$build/cleanslate" bin/
export PATH=$work/bin:$PATH HOME=$work/home XDG_CONFIG_HOME=$work/home XDG_STATE_HOME=$work/state LC_ALL=C.UTF-8
export CLEANSLATE_INVENTORY=fleet.yaml
unset ZDOTDIR COMP_WORDBREAKS
cat >fleet.yaml <<'YAML'
all:
  children:
    rack1: {hosts: {'gpu[01-04]': }}
    storage: {hosts: {nas1: }}
YAML
echo 'all: {hosts: {other9: }}' >other.yaml
echo '0, 0 MiB' >query
cleanslate check --local -q >/dev/null 2>&1 || true  # a sweep for the history, whatever it finds here
cleanslate completion "$shell" | tee script >functions/_cleanslate

# LINE -> the candidates for its last word, one a line; of zsh the last word that then stands there.
complete_bash() {
    bash --norc --noprofile -s "$1" <<'BASH'
source ./script
compopt() { :; }
COMP_LINE=$1 COMP_POINT=${#1}
# As readline does it: words end at blanks, and = : @ outside of quotes are words of their own.
mapfile -t COMP_WORDS < <(awk '{
    while (length($0)) {
        if (match($0, /^ +/)) { $0 = substr($0, RLENGTH + 1); continue }
        if (!match($0, /^\047[^\047]*\047?/) && !match($0, /^[=:@]+/)) match($0, /^[^ =:@]+/)
        print substr($0, 1, RLENGTH)
        $0 = substr($0, RLENGTH + 1)
    } }' <<<"$1")
[[ $1 != *' ' ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_cleanslate
printf '%s\n' "${COMPREPLY[@]}"
BASH
}
complete_zsh() {
    zsh -f "$here/probe.zsh" "$1" | tr -d '\r' | sed -n 's/.*<<\(.*[^ ]\) *>>.*/\1/p' | sed "s/.* '*//; s/'\$//"
}
# shellcheck disable=SC2016  # fish's own
complete_fish() { fish --no-config -c 'source ./script; complete -C "$argv[1]"' -- "$1" | cut -f 1; }

failed=0
check() { # LINE WANTED: one word, or for bash and fish several with blanks between
    local line=$1 wanted=$2 got
    case $shell:$line in bash:*\'*) ;; bash:*) wanted=${wanted##*[=@]} ;; esac  # readline keeps what stands before
    got=$(complete_"$shell" "$line" | sed 's|/$||' | sort | tr '\n' ' ')
    [ "${got% }" = "$wanted" ] && return
    printf '%s: "%s" is completed to "%s", not to "%s"\n' "$shell" "$line" "${got% }" "$wanted"
    failed=1
}
list() { [ "$shell" = zsh ] || check "$@"; }

check 'cleanslate cl' clear
check 'cleanslate --ver' --version
check 'cleanslate history di' diff
check 'cleanslate history diff --for' --format
check 'cleanslate check --host-key-check a' accept-new
check 'cleanslate check --host-key-check=a' --host-key-check=accept-new
check 'cleanslate check --format htm' html
check 'cleanslate check --format json=nig' json=nightly
check 'cleanslate check --clean-hosts slurm=nig' slurm=nightly
check 'cleanslate clear -p by-h' by-holder
check 'cleanslate clear -p nig' nightly
check 'cleanslate explain driver-hu' driver-hung
check 'cleanslate check -l sto' storage
check 'cleanslate check -l rack1,nas' rack1,nas1
check "cleanslate check -l 'rack1,!nas" 'rack1,!nas1'
check 'cleanslate check -i other.yaml -l oth' other9
check 'cleanslate check -iother.yaml --limit=oth' --limit=other9
check 'cleanslate check -l @que' @query
check 'cleanslate parse que' query
check 'cleanslate report me' merge
check 'cleanslate history show la' last
check 'cleanslate completion fi' fish
check 'cleanslate check -i fleet.yaml -i other.yaml -l oth' other9
check 'cleanslate help slu' slurm
check 'cleanslate help drain' drain-list
list 'cleanslate check -l gpu' 'gpu01 gpu02 gpu03 gpu04'
list 'cleanslate history show ' '1 last'
list 'cleanslate run -H gpu01 -- upt' ''
list 'cleanslate no-such-command -' "$(cleanslate __complete - | sed '1d; s/\t.*//' | sort | tr '\n' ' ' | sed 's/ $//')"

unset CLEANSLATE_INVENTORY
list 'cleanslate check -l oth' ''
mkdir -p home/cleanslate
echo "inventory: $work/other.yaml" >home/cleanslate/config.yaml
check 'cleanslate check -l oth' other9
mkdir folder
cp other.yaml folder/
printf '#!/bin/sh\ntouch ran\n' | tee folder/program >program
chmod +x program folder/program

# Silent on whatever is wrong, and nothing is run: neither by an inventory nor by what the program might answer.
# shellcheck disable=SC2016
hostile='$(touch ran)`touch ran`;touch ran'
printf "all: {hosts: {'%s': }}\n" "$hostile" >hostile.yaml
mkfifo fifo
for inventory in hostile.yaml no-such-file program folder fifo; do
    list "cleanslate check -i $inventory -l x" ''
done
rm bin/cleanslate
# shellcheck disable=SC2016
printf '#!/bin/sh\nprintf "words\\nx%%s\\tabout %%s\\n" "$HOSTILE" "$HOSTILE"\n' >bin/cleanslate
chmod +x bin/cleanslate
HOSTILE=$hostile complete_"$shell" 'cleanslate check -l x' >/dev/null
HOSTILE=$hostile complete_"$shell" "cleanslate check -l '\$(touch ran)" >/dev/null
# shellcheck disable=SC2016
HOSTILE=$hostile complete_"$shell" 'cleanslate check -i "$(touch ran)" -l ' >/dev/null
[ ! -e ran ] || { echo "$shell: a name was run"; failed=1; }
[ "$failed" -eq 0 ]
