#!/bin/bash
# The two rules of docs/ARCHITECTURE.md about includes: folders point one way, and each third-party library has one
# door. Prints each offence as file:line: text; status 1 if there is any.
set -u
cd "$(dirname "$0")/../.." || exit 2
git rev-parse --is-inside-work-tree >/dev/null || exit 2  # else no search finds anything
offences=0

offence() {
    printf '%s: %s\n' "$2" "$1"
    offences=$((offences + 1))
}

# folder -> the folders that it may include
declare -A may=(
    [base]="base"
    [inventory]="base inventory"
    [playbooks]="base playbooks"
    [agentless/ssh]="base agentless agentless/ssh"
    [agentless]="base inventory playbooks agentless"
    [controller]="base inventory playbooks agentless controller"
)

folder_of() {
    case $1 in
        agentless/ssh/*) echo agentless/ssh ;;
        *) echo "${1%%/*}" ;;
    esac
}

# agentless/ssh is private to agentless; the files that put the two together are named here.
is_ssh_user() {
    case $1 in agentless/fleet.cpp | agentless/key_scan.cpp | agentless/ssh_reach.hpp) ;; *) false ;; esac
}

while IFS=: read -r file line text; do
    include=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$text")
    case $include in */*) ;; *) continue ;; esac  # generated headers
    from=$(folder_of "$file")
    to=$(folder_of "$include")
    [ -n "${may[$from]:-}" ] || continue
    case " ${may[$from]} " in *" $to "*) continue ;; esac
    if [ "$to" = agentless/ssh ] && is_ssh_user "$file"; then continue; fi
    offence "$from may not include $include" "$file:$line"
done < <(git grep -nE '^#include "' -- base inventory playbooks agentless controller)

# library's include -> the one folder (or the files) that may name it
door() {
    local pattern=$1 allowed=$2
    while IFS=: read -r file line text; do
        # shellcheck disable=SC2254  # a pattern is meant
        case $file in $allowed) continue ;; esac
        offence "only $allowed may include $(sed -E 's/.*[<"]([^>"]+)[>"].*/\1/' <<<"$text")" "$file:$line"
    done < <(git grep -nE "^#include [<\"]($pattern)" -- base inventory playbooks agentless controller)
}
door 'yaml-cpp/' 'base/*'
door 'libssh2' 'agentless/ssh/*'
door 'openssl/' 'agentless/ssh/*'
door 'botan/' 'agentless/ssh/*'
door 'CLI/' 'controller/*'
door 'nlohmann/' 'controller/*'
door 'sqlite3' 'controller/history/*'
door 'zstd' 'controller/history/*'
door 'boost/' 'agentless/*'
door 're2/' 'inventory/*'

# Asio stays out of every header that the inventory, the playbooks or the renderers could see.
while IFS=: read -r file line _; do
    case $file in
        agentless/transport.hpp | agentless/event.hpp | agentless/engine.hpp | agentless/*_transport.hpp) ;;
        agentless/child_process.hpp | agentless/ssh/*.hpp) ;;
        *) offence "no Asio in this header" "$file:$line" ;;
    esac
done < <(git grep -nE '^#include <boost/' -- 'base/*.hpp' 'inventory/*.hpp' 'playbooks/*.hpp' 'agentless/*.hpp' 'controller/*.hpp')
while IFS=: read -r file line text; do
    offence "the controller may not see Asio through this header" "$file:$line"
done < <(git grep -nE '^#include "agentless/(transport|event|engine|host_run|local_transport|memory_transport)\.hpp"' -- controller)

[ "$offences" -eq 0 ] && echo "layers: every include points the right way"
exit $((offences > 0))
