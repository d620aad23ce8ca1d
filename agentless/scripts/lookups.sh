# Part of the survey: what an earlier one left behind, and what is read of the driver and of names. Functions of join's
# awk; docs/remote-protocol.md has the grammar of what they print.
# shellcheck shell=sh
# shellcheck disable=SC2016,SC2034 # nothing in it is the shell's

lookups='
  # A process in state D with a file open whose reading never returns where its process is wedged.
  function suspect(reader, target,   part, n) {
    if (target !~ /^\/proc\/[0-9]+\/(task\/[0-9]+\/)?(maps|smaps|smaps_rollup|cmdline|environ)$/) return
    n = split(target, part, "/")
    if (!(reader in asleep) || length(part[3]) > 10 || part[3] == shell || suspects >= 1000) return
    suspect_of[++suspects] = reader
    suspected[suspects] = part[3]
    suspected_file[suspects] = part[n]
  }
  # What an earlier survey left there, or another of its kind: of this login or of root, older than this survey, and a
  # second later still in state D. Such a file is not read again: whoever does that hangs as well.
  function look_wedged(   i, p, reader, uid, me, cmd) {
    if (!suspects) return
    cmd = "sleep 1 </dev/null"
    cmd | getline me
    close(cmd)
    me = uid_of(shell)
    for (i = 1; i <= suspects; i++) {
      p = suspected[i]
      reader = suspect_of[i]
      uid = uid_of(reader)
      if ((p in wedged) || uid !~ /^[0-9]+$/ || (uid != 0 && uid != me)) continue
      if (start[reader] + 0 > start[shell] + 0 || !sleeps(reader) || !load(p)) continue
      wedged[p] = 1
      wedges++
      pick(p)
      pick(reader)
      print "wedged " p " " suspected_file[i] " " reader
    }
  }
  function sleeps(p,   text, f) {
    text = stat_of(p)
    if (!match(text, /\)[^)]*$/)) return 0
    split(substr(text, RSTART + 2), f, " ")
    return f[1] == "D" && f[20] == start[p]
  }
  # Who owns the executables and may write them: the magic link leads to the file whatever its path says.
  function look_exe(from, to,   cmd, i, line, f, part) {
    cmd = "exec ls -lnLd"
    for (i = from; i <= to; i++) if (order[i] in exe) cmd = cmd " /proc/" order[i] "/exe"
    if (cmd !~ /exe$/) return
    cmd = cmd " 2>/dev/null </dev/null"
    while ((cmd | getline line) > 0) {
      if (!match(line, /\/proc\/[0-9]+\/exe$/)) continue
      split(substr(line, RSTART), part, "/")
      split(line, f, / +/)
      if (f[3] ~ /^[0-9]+$/) print "exefile " part[3] " " f[3] " " esc(f[1])
    }
    close(cmd)
  }
  function look_driver(   i, n, file, name, line) {
    n = split(ENVIRON["CLEANSLATE_INFO"], file, "\n")
    for (i = 1; i <= n; i++) {
      if (file[i] == "") continue
      name = file[i]
      sub(/\/information$/, "", name)
      sub(/.*\//, "", name)
      print "driver " esc(name)
      while ((getline line < file[i]) > 0)
        if (line ~ /^(GPU UUID|Device Minor|Bus Location|GPU Excluded|NVRM version):/) print "info " esc(substr(line, 1, 400))
      close(file[i])
    }
    if (mig) look_caps()
  }
  # Which device file lets a process use which MIG instance.
  function look_caps(   cmd, line, part, name, n) {
    cmd = "for f in /proc/driver/nvidia/capabilities/gpu*/mig/gi*/access " \
      "/proc/driver/nvidia/capabilities/gpu*/mig/gi*/ci*/access; do " \
      "[ ! -e \"$f\" ] || echo \"$f\"; done 2>/dev/null </dev/null"
    n = 0
    while ((cmd | getline name) > 0) {
      split(name, part, "/")
      if (!number(part[6], "gpu") || !number(part[8], "gi") || (part[9] != "access" && !number(part[9], "ci"))) continue
      if (n++ >= 4096) break
      while ((getline line < name) > 0)
        if (line ~ /^DeviceFileMinor: *[0-9]+$/ && length(line) < 30) {
          sub(/^[^0-9]*/, "", line)
          print "cap " substr(part[6], 4) " " substr(part[8], 3) " " (part[9] == "access" ? "-" : substr(part[9], 3)) \
            " " line
          break
        }
      close(name)
    }
    close(cmd)
  }
  function number(text, word) {
    return index(text, word) == 1 && substr(text, length(word) + 1) ~ /^[0-9]+$/ && length(text) < length(word) + 7
  }
  # Early, for the report of a survey that is cut: no child, and nothing that can hang.
  function look_local_names(   line) {
    while ((getline line < "/etc/passwd") > 0) name(line)
    close("/etc/passwd")
  }
  function look_names(   line, f, cmd, uid) {
    look_local_names()
    cmd = ""
    for (uid in uids) cmd = cmd " " uid
    if (cmd == "" || length(cmd) > 60000) return
    cmd = "command -v timeout && exec timeout 3 getent passwd" cmd " 2>/dev/null </dev/null"
    while ((cmd | getline line) > 0) name(line)
    close(cmd)
  }
  function name(line,   f) {
    if (split(line, f, ":") < 3 || !(f[3] in uids)) return
    print "user " f[3] " " esc(substr(f[1], 1, 256))
    delete uids[f[3]]
  }
'
