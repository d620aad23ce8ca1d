#!/bin/bash
# mail_test.sh: what packaging/cleanslate-mail hands to sendmail, and that nothing of a host gets into a header or an
# argument. The program that it asks for the text is one that says hostile things.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
mail=$root/packaging/cleanslate-mail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$work/bin sent=$work/sent failed=0 shell=()
mkdir "$bin" "$sent"

cat >"$bin/sendmail" <<'SH'
#!/bin/sh
[ ! -e "$REFUSE" ] || exit 75
n=$(ls "$SENT" | wc -l)
printf '%s\n' "$@" >"$SENT/$n.arguments"
cat >"$SENT/$n.mail"
SH
cat >"$bin/program" <<'SH'
#!/bin/sh
[ ! -e "$MUTE" ] || { echo "cleanslate: history: it is damaged" >&2; exit 5; }
printf 'asked: %s\n' "$*"
printf 'gpu01\nBcc: evil@example.org\n\n.\nFrom evil\n--token ****\n~!touch /dev/null\n'
awk 'BEGIN { while (i++ < 900) printf "x"; print "~!touch /dev/null" }'
awk 'BEGIN { while (i++ < 3000) printf "x"; print "" }'
SH
chmod +x "$bin"/*
export SENT=$sent REFUSE=$work/refuse MUTE=$work/mute

# As the sweep's environment is, with more in it than there should be.
run() {
    env -i PATH="$bin:/usr/bin:/bin" SENT="$sent" REFUSE="$REFUSE" MUTE="$MUTE" CLEANSLATE_NEWLY_DIRTY=3 \
        CLEANSLATE_NEWLY_CLEAN=1 CLEANSLATE_NEWLY_UNKNOWN=$'2\nBcc: evil@example.org' CLEANSLATE_SWEEP=38 \
        CLEANSLATE_PREVIOUS_SWEEP=37 CLEANSLATE_STATUS=1 CLEANSLATE_HISTORY="/var/lib/a b/history.db" \
        CLEANSLATE_PROGRAM="$bin/program" "${shell[@]}" "$mail" "$@"
}
check() { # WHAT COMMAND...
    local what=$1
    shift
    "$@" >/dev/null 2>&1 || { printf 'not so: %s\n' "$what"; failed=1; }
}
# shellcheck disable=SC2317  # check() calls it
fails() { ! "$@"; }
count() { find "$1" -type f | wc -l; }
head_of() { sed '/^$/q' "$1"; }
again() { rm -f "$sent"/* "$REFUSE" "$MUTE"; }

for words in sh bash 'busybox sh' ksh93; do
    read -ra shell <<<"$words"
    command -v "${shell[0]}" >/dev/null || continue
    again
    echo '{"schema":"cleanslate.diff/1"}' | run ops@example.org gpu-admins@example.org
    check "$words: one mail is sent" test "$(count "$sent")" -eq 2
    check "$words: to the addresses, which no argument adds to" \
        test "$(cat "$sent/0.arguments")" = $'-i\n--\nops@example.org\ngpu-admins@example.org'
    check "$words: counts are in the subject" grep -q '^Subject: .*3 newly dirty, 1 newly clean, 0 newly unknown$' "$sent/0.mail"
    check "$words: both addresses are in To" grep -qx 'To: ops@example.org, gpu-admins@example.org' "$sent/0.mail"
    check "$words: six lines of head, and an empty one" test "$(head_of "$sent/0.mail" | wc -l)" -eq 7
    check "$words: no Bcc in the head" fails grep -qi bcc <(head_of "$sent/0.mail")
    check "$words: the differences of this sweep were asked for" \
        grep -qx 'asked: history diff --history /var/lib/a b/history.db --color never 38' "$sent/0.mail"
    check "$words: its report, too" grep -qx 'asked: history show --history /var/lib/a b/history.db --color never 38' "$sent/0.mail"
    check "$words: no line is a command of mail's" fails grep -q '^~' "$sent/0.mail"
    check "$words: but it is told" test "$(grep -c '^ ~!touch' "$sent/0.mail")" -eq 4
    check "$words: no line is longer than mail allows" test "$(awk '{ print length($0) }' "$sent/0.mail" | sort -n | tail -1)" -le 998
done
shell=()

again
touch "$MUTE"
echo '{"schema":"cleanslate.diff/1"}' | run ops@example.org
check 'where the text cannot be had, the JSON does' grep -q cleanslate.diff/1 "$sent/0.mail"
check 'and why stands there, too' grep -q 'it is damaged' "$sent/0.mail"

again
for address in '-Xlog' $'a@b\nBcc: c' 'a b' '' '"x"@y' 'a;b' \`id\`; do
    check "no address: $address" fails env PATH="$bin:/usr/bin:/bin" "$mail" "$address" </dev/null
done
check 'nothing was sent to them' test "$(count "$sent")" -eq 0

again
touch "$REFUSE"
check 'a sendmail that refuses fails' fails env PATH="$bin:/usr/bin:/bin" "$mail" ops@example.org </dev/null

again
outbox=$work/state/outbox
for _ in 1 2; do run --queue "$outbox" </dev/null; done
check 'a queue holds a mail a night' test "$(count "$outbox")" -eq 2
check 'for nobody else to read' test "$(stat -c %a "$outbox" "$outbox"/*.mail | sort -u | tr '\n' ' ')" = '600 700 '
touch "$REFUSE"
check 'what is not delivered' fails env PATH="$bin:/usr/bin:/bin" "$mail" --deliver "$outbox" ops@example.org
check 'stays' test "$(count "$outbox")" -eq 2
rm "$REFUSE"
run --deliver "$outbox" ops@example.org
check 'and is delivered later' test "$(count "$outbox")-$(count "$sent")" = 0-4
check 'to whom' test "$(cat "$sent/0.arguments")" = $'-i\n--\nops@example.org'
check 'an empty queue is no failure' run --deliver "$outbox" ops@example.org
check 'nor is none' run --deliver "$work/none" ops@example.org
check 'and sends nothing' test "$(count "$sent")" -eq 4

again
for number in $(seq 100); do echo >"$outbox/$number.mail"; done
check 'nobody sends: no more are queued' fails run --queue "$outbox" </dev/null
check 'and those that are stay' test "$(count "$outbox")" -eq 100
rm -f "$outbox"/*.mail

again
export MONITOR_SERVICE_RESULT=exit-code MONITOR_EXIT_STATUS=5 MONITOR_UNIT=cleanslate-nightly.service
env PATH="$bin:/usr/bin:/bin" "$mail" --deliver "$outbox" ops@example.org
check 'a sweep that failed itself is told of' grep -q '^Subject: .*the nightly sweep failed: exit-code 5$' "$sent/0.mail"
again
MONITOR_SERVICE_RESULT=success MONITOR_EXIT_STATUS=1 env PATH="$bin:/usr/bin:/bin" "$mail" --deliver "$outbox" ops@example.org
check 'one that succeeded is not' test "$(count "$sent")" -eq 0
unset MONITOR_SERVICE_RESULT MONITOR_EXIT_STATUS MONITOR_UNIT

# Without a sendmail, mail does.
again
mkdir "$work/only-mail"
for tool in sh cat sed awk tr cut fold uname printf env; do ln -s "$(command -v $tool)" "$work/only-mail/"; done
cat >"$work/only-mail/mail" <<'SH'
#!/bin/sh
printf '%s\n' "$@" >"$SENT/0.arguments"
cat >"$SENT/0.mail"
SH
chmod +x "$work/only-mail/mail"
sed "s|^PATH=.*|PATH=$work/only-mail|" "$mail" >"$work/cleanslate-mail"
CLEANSLATE_PROGRAM="$bin/program" CLEANSLATE_NEWLY_DIRTY=3 sh "$work/cleanslate-mail" ops@example.org </dev/null
check 'mail gets the subject' grep -q '3 newly dirty' "$sent/0.arguments"
check 'and the address last' test "$(tail -1 "$sent/0.arguments")" = ops@example.org
check 'and the body' grep -q 'asked: history diff' "$sent/0.mail"
check 'alone' fails grep -q '^Subject' "$sent/0.mail"

[ "$failed" -eq 0 ] && echo "mail: heads, addresses and queue are as they should be"
exit "$failed"
