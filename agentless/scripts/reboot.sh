# Starts a reboot a moment after its own end record. Goes to the standard input of `/bin/sh -s` behind process.sh and
# acts.sh; POSIX sh. docs/remote-protocol.md has the grammar of what it prints.
# shellcheck shell=sh
#
# In front stand: nonce (hex), boot (id).
# shellcheck disable=SC2154

# Why there will be none, into why.
may_reboot() {
  why=
  if ! same_boot; then
    why=it%20has%20booted%20since%20it%20was%20looked%20at
  elif ! read_uid || [ "$uid" != 0 ]; then
    why=only%20root%20may%20reboot
  elif ! has systemctl && ! has shutdown && ! has reboot; then
    why=no%20systemctl,%20shutdown%20or%20reboot
  fi
  [ -z "$why" ]
}

reboot_soon() {
  trap '' HUP PIPE TERM
  sleep 1
  if has systemctl && systemctl reboot; then return; fi
  if has shutdown && shutdown -r now; then return; fi
  reboot
}

main() {
  begin
  if may_reboot; then
    ( exec </dev/null >/dev/null; reboot_soon ) &
    echo "reboot started -"
  else
    echo "reboot refused $why"
  fi
  echo "end $nonce"
}

main
