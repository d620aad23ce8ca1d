# Part of the survey: everything about processes and their files. POSIX sh and awk; docs/remote-protocol.md has the
# grammar of what it prints.
# shellcheck shell=sh
# shellcheck disable=SC2154 # all_processes, shm_names: from the survey's first lines; mig: look; the rest: other parts

# Everything else in one awk: it joins processes with their files and escapes each value.
join() {
  awk -v all="$all_processes" -v shell="$$" -v near="$near" -v mig="$mig" -v shm="$shm_names" \
    "$reading$links$maps$lookups$leftovers"'
  function esc(s,   out) {
    if (s == "") return "-"
    if (s == "-") return "%2d"
    out = ""
    while (match(s, /[^!-$&-~]/)) {
      c = substr(s, RSTART, 1)
      out = out substr(s, 1, RSTART - 1) ((c in hex) ? hex[c] : "%3f")
      s = substr(s, RSTART + 1)
    }
    return out s
  }
  function flush() { fflush() }
  function done(stage) {
    if (!broken) print "done " stage
    flush()
  }

  # /proc/PID/stat up to its field 22, the start time, into stat[]; false where there is no such process.
  function load(p,   text, f, i, n) {
    if (p in stat) return stat[p] != ""
    stat[p] = ""
    if (!is_number(p)) return 0
    if (p in raw) {
      text = raw[p]
      delete raw[p]
    }
    else {
      text = (p in stat_text) ? stat_text[p] : stat_of(p)
      delete stat_text[p]
    }
    if (!match(text, /\)[^)]*$/)) return 0
    n = split(substr(text, RSTART + 2), f, " ")
    if (n < 20 || !is_number(f[2])) return 0
    text = substr(text, 1, RSTART)
    for (i = 1; i <= 20; i++) text = text " " f[i]
    stat[p] = text
    parent[p] = f[2]
    session[p] = f[4]
    kernel[p] = int(f[7] / 2097152) % 2
    if (f[1] == "Z" && f[18] > 1) {
      headless[p] = 1
      threads = threads " /proc/" p "/task/*/fd"
    }
    start[p] = f[20]
    if (f[1] == "D" && !kernel[p]) asleep[p] = 1
    return 1
  }
  # A child of this survey, also one that has lost its parent: begun after it in the same session.
  function own(p) {
    return p != shell && load(shell) && session[p] == session[shell] && start[p] + 0 >= start[shell] + 0
  }
  function pick(p,   cgroup) {  # p and everything above it
    want(p)
    read_wanted()
    while (p > 0 && !(p in picked) && load(p)) {
      cgroup = kernel[p] ? "-" : cgroup_of(p)
      if (p in gone) {
        stat[p] = ""
        break
      }
      picked[p] = 1
      order[++count] = p
      print "proc " p " " uid[p] " " esc(stat[p])
      if (!kernel[p]) print "cgroup " p " " esc(cgroup)
      if (p in nohup) print "nohup " p
      if (p in exe) print "exe " p " " esc(exe[p])
      if (p in mount) print "mount " p " " esc(mount[p])
      p = parent[p]
    }
  }
  # Whose pid is whose, before anything is read by pid: where one is given away meanwhile, what is seen of its next
  # owner counts for the one that is gone, whom no signal reaches any more. By one cat: a name may hold newlines, but it
  # is short, and what stands behind it is long and on one line. The file behind them has no such line. Then come status
  # and control groups of those whom every survey shows, in which no name can make a line.
  function look_who(   cmd, line, text, p, whole, n, i, part, more) {
    more = "sys/kernel/random/boot_id"
    n = split(near, part, " ")
    for (i = 1; i <= n; i++) if (is_number(part[i])) more = more " " part[i] "/status " part[i] "/cgroup"
    cmd = over("cat", "", "/stat", " " more, "")
    text = ""
    p = 0
    while ((cmd | getline line) > 0) {
      if (text == "") {
        if (line !~ /^[0-9]+ /) {
          whole = 1
          if (index(line, "Pid:") == 1) {
            p = substr(line, 5) + 0
            if (!(p in uid)) uid[p] = "-"
          }
          else if (p && line ~ /^(Uid|SigIgn):/) take_line("status", p, line)
          else if (p && line ~ /^[0-9]+:/) take_line("cgroup", p, line)
          continue
        }
        text = line
      }
      else text = text "\n" line
      if (length(line) < 80) continue
      p = text + 0
      raw[p] = text
      list[++listed] = p
      # Of the others nothing need be known yet.
      if (index(text, ") D ") || index(text, ") Z ")) load(p)
      text = ""
    }
    close(cmd)
    if (!whole) broken = 1
  }
  # A command: HEAD, FILE of every process, LAST, TAIL. Where they are too many for the arguments of one program: in
  # groups by the first two digits, then LAST on its own. That has what shows that all came: it is left out where a group
  # could not be started, or was ended.
  function over(head, folder, file, last, tail) {
    return "{ cd /proc; set -- " folder "[0-9]*" file "; " \
      "[ $# -gt 30000 ] || exec " head " \"$@\"" last " " tail "; " \
      "failed=; for d in 1 2 3 4 5 6 7 8 9; do for e in \"\" 0 1 2 3 4 5 6 7 8 9; do " \
      "set -- " folder "$d$e" file "; [ -z \"$e\" ] || set -- " folder "$d$e*" file "; " \
      "case $1 in *[*]*) continue ;; esac; " \
      head " \"$@\" " tail " || [ $? -lt 126 ] || failed=1; " \
      "done; done; [ -n \"$failed\" ] || exec " head last " " tail "; } 2>/dev/null </dev/null"
  }
  # One that has begun since.
  function meet(p) {
    if ((p in raw) || (p in stat) || (p in met) || !is_number(p)) return
    met[p] = 1
    list[++listed] = p
    queue("stat", p)
  }
  function look_who_else(   i) {
    if (queued["stat"]) read_queue("stat")
    for (i in met) load(i)
  }
  # Command lines of picked processes from..to, by one cat. They are hostile text of any bytes, so between each two
  # stands the environment of that cat itself, which holds the nonce and which no other user can read. Two of these
  # blocks come first: they tell how many lines a block has (size) and how many are before the nonce (ahead). The
  # first line of a block may be stuck to a command line that has no NUL at its end.
  function look_argv(from, to,   cmd, line, i, n, ahead, size, skip, mark, top, text, at, hold, whose, last) {
    mark = "CLEANSLATE_NONCE=" ENVIRON["CLEANSLATE_NONCE"]
    cmd = "cd /proc; cat self/environ self/environ"
    last = 0
    for (i = from; i <= to; i++)
      if (!(order[i] in wedged)) {
        whose[++last] = order[i]
        cmd = cmd " " order[i] "/cmdline self/environ"
      }
    cmd = cmd " 2>/dev/null </dev/null | tr \"\\n\\000\" \"\\001\\n\""
    ahead = -1
    n = size = skip = 0
    i = 1
    text = ""
    while ((cmd | getline line) > 0) {
      if (skip > 0) { skip--; continue }
      n++
      if (n == 1 && ahead < 0) top = line
      at = length(line) - length(mark)
      if (at < 0 || substr(line, at + 1) != mark || (at > 0 && ahead != 0)) {
        if (size && n > ahead && length(text) <= 4096) text = text (ahead ? hold[n % ahead] : line) "\n"
        if (ahead > 0) hold[n % ahead] = line
        continue
      }
      if (ahead < 0) { ahead = n - 1; continue }
      if (!size) size = n - ahead - 1
      else {
        if (ahead) line = hold[n % ahead]
        text = text substr(line, 1, length(line) - length(top))
        argv(whose[i++], text)
        text = ""
      }
      n = 0
      skip = size - ahead - 1
    }
    close(cmd)
    return i > last
  }
  # text: arguments with a newline behind each, \001 for a newline in one.
  function argv(p, text,   i, n, part, out, cut) {
    if (kernel[p]) return
    cut = length(text) > 4096
    text = substr(text, 1, 4096)
    sub(/\n+$/, "", text)
    n = split(text, part, "\n")
    out = n ? "" : "-"
    for (i = 1; i <= n; i++) out = out (i > 1 ? "%00" : "") (part[i] == "" ? "" : esc(part[i]))
    gsub(/%01/, "%0a", out)
    if (out == "") out = "%00"
    spent += length(out)
    if (spent < 4000000) print "argv " p " " out (cut ? " cut" : "")
    else if (!limited++) print "limit argv"
  }
  BEGIN { for (i = 1; i < 256; i++) hex[sprintf("%c", i)] = sprintf("%%%02x", i) }
  /^record / {
    print substr($0, 8)
    if ($2 == "stuck") wanted[$3] = 1
  }
  /^(gpu|app|opt|list) / {
    print $1 " " esc(substr($0, length($1) + 2, 2000))
    if ($1 == "app" && match($0, /^app [0-9]+,/) && RLENGTH < 15) wanted[substr($0, 5, RLENGTH - 5)] = 1
  }
  # What must be known before maps are read, which may hang.
  function print_files(   i, p) {
    for (p in wanted) pick(p + 0)
    for (p in open) pick(p)
    for (p in using) pick(p)
    if (all) for (i = 1; i <= listed; i++) if (load(list[i]) && !kernel[list[i]] && !own(list[i])) pick(list[i])
    for (p in open) if (p in picked) print "open " p " " open[p]
    look_local_names()
    done("files")
  }
  function want_all(   i, p) {
    for (p in wanted) want(p + 0)
    for (p in open) want(p)
    for (p in using) want(p)
    if (all) for (i = 1; i <= listed; i++) if (load(list[i]) && !kernel[list[i]] && !own(list[i])) want(list[i])
  }
  END {
    flush()
    look_who()
    look_shm_files()
    wanted[1] = wanted[shell] = 1
    want_all()
    found = look_find()
    if (!found) { shm_printable_only(); look_ls() }
    look_who_else()
    look_shm_open()
    look_wedged()
    want_all()
    read_wanted()
    print_files()
    if (!look_maps_at_once()) look_maps_each()
    print_blind()
    done("maps")
    complete = 1
    for (i = 1; i <= count; i += 500) {
      last = i + 499 < count ? i + 499 : count
      if (!look_argv(i, last)) complete = 0
      flush()
    }
    if (complete) done("argv")
    look_driver()
    done("driver")
    look_names()
    flush()
    for (i = 1; i <= count; i += 500) look_exe(i, i + 499 < count ? i + 499 : count)
    done("exe")
  }'
}
