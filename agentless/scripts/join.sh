# Part of the survey: everything about processes and their files. POSIX sh and awk; docs/remote-protocol.md has the
# grammar of what it prints.
# shellcheck shell=sh
# shellcheck disable=SC2154 # all_processes, shm_names: from the survey's first lines; mig: look; the rest: other parts

# Everything else in one awk: it joins processes with their files and escapes each value.
join() {
  awk -v all="$all_processes" -v shell="$$" -v mig="$mig" -v shm="$shm_names" "$reading$lookups$leftovers"'
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
    text = (p in stat_text) ? stat_text[p] : stat_of(p)
    delete stat_text[p]
    stat[p] = ""
    if (!match(text, /\)[^)]*$/)) return 0
    n = split(substr(text, RSTART + 2), f, " ")
    if (n < 20) return 0
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
  # A device file by the path of a link or mapping, as elements of a list: its minor, or c for the others, and beside
  # that capN for what lets a process use a MIG instance. In a namespace of their own users can make any number of names.
  function add(list, path) {
    sub(/ \(deleted\)$/, "", path)
    sub(/^.*\/dev\/nvidia/, "/dev/nvidia", path)
    if (length(list) < 8000) {
      if (path ~ /^\/dev\/nvidia[0-9]+$/ && length(path) < 18) return element(list, substr(path, 12) + 0)
      if (path ~ /^\/dev\/nvidia-caps\/nvidia-cap[0-9]+$/ && length(path) < 34)
        list = element(list, "cap" (substr(path, 28) + 0))
    }
    return element(list, "c")
  }
  function element(list, n) {
    if (index("," list ",", "," n ",")) return list
    return list (list == "" ? "" : ",") n
  }
  function link(path, target,   part) {  # of /proc/PID/fd/N, exe, ns/mnt
    split(path, part, "/")
    if (part[4] == "task") {  # of a process whose first thread has ended
      if (part[7] != "") open[part[3]] = add(open[part[3]], target)
      else if (target == "" && part[5] != part[3]) thread[part[3]] = "/task/" part[5]
    }
    else if (part[4] == "fd" && target ~ /^\/proc\/[0-9]/ && target !~ /\/dev\/nvidia/) suspect(part[3], target)
    else if (part[4] == "fd" && part[5] != "") open[part[3]] = add(open[part[3]], target)
    else if (part[4] == "fd") {
      list[++listed] = part[3]
      if (target != "") unlisted[part[3]] = 1
    }
    else if (target == "") return
    else if (part[4] == "exe") exe[part[3]] = target
    else if (part[4] == "ns") mount[part[3]] = target
  }
  # Whose pid is whose, before anything is read by pid: where one is given away meanwhile, what is seen of its next
  # owner counts for the one that is gone, whom no signal reaches any more.
  function look_who(   cmd, line, i, n) {
    cmd = "for p in /proc/[0-9]*; do echo \"${p#/proc/}\"; done"
    while ((cmd | getline line) > 0) { queue("stat", line); n++ }
    close(cmd)
    read_queue("stat")
    for (i = 1; i <= n; i++) load(whose["stat", i])
  }
  # Those that have begun since.
  function look_who_else(   i) {
    for (i = 1; i <= listed; i++) if (!(list[i] in stat)) queue("stat", list[i])
    read_queue("stat")
    for (i = 1; i <= listed; i++) load(list[i])
  }
  # All links of all processes, 2000 processes a find. The targets are hostile text: records end in NUL, tr swaps that
  # with newline, so a target cannot make a line. Behind a chroot a device file has another path: there it must be a
  # device, since anybody may call a file so and have others open it.
  function look_find(   cmd, line, ok, at, p, n, some, named) {
    n = 0
    some = ""
    for (p in asleep) if (n++ < 1000) some = some " /proc/" p "/fd"
    if (some != "") some = "; find" some " -maxdepth 1 -lname \"/proc/[0-9]*/[cems]*\" -printf \"%p %l\\0\" 2>/dev/null </dev/null"
    named = shm_links()
    cmd = "look() { find /proc/self \"$@\" -maxdepth 1 " named "\\( -path /proc/self -printf \"ok\\0\" -prune " \
      "-o -path \"*/fd\" \\( -readable -printf \"%p\\0\" -o -printf \"%p -\\0\" \\) " \
      "-o -path \"*/fd/*\" \\( -lname \"/dev/nvidia*\" -o -lname \"*/dev/nvidia*\" -xtype c \\) " \
      "-printf \"%p %l\\0\" " \
      "-o ! -path \"*/fd/*\" -printf \"%p %l\\0\" \\); }; " \
      "n=0 some=; for p in /proc/[0-9]*; do some=\"$some $p/fd $p/exe $p/ns/mnt\" n=$((n + 1)); " \
      "[ $n -lt 2000 ] || { look $some; n=0 some=; }; done 2>/dev/null </dev/null; " \
      "look $some" threads " 2>/dev/null </dev/null" some
    cmd = "{ " cmd "; } | tr \"\\n\\000\" \"\\001\\n\""
    while ((cmd | getline line) > 0) {
      if (line == "ok") { ok = 1; continue }
      if (index(line, "shm /proc/") == 1) { shm_candidate(substr(line, 5)); continue }
      at = index(line, " ")
      if (at) link(substr(line, 1, at - 1), substr(line, at + 1))
      else link(line, "")
    }
    close(cmd)
    return ok
  }
  # Where find knows no -lname or -printf: ls, one process at a time, with the nonce between them. In its own section
  # a process can say what it likes of itself, which opening a device file says as well; its mount namespace comes
  # first and its executable second, and both must be single lines.
  function look_ls(   cmd, line, p, n, at, mark, target) {
    mark = ENVIRON["CLEANSLATE_NONCE"] " "
    cmd = "for p in /proc/[0-9]*; do n=${p#/proc/}; echo; echo \"$CLEANSLATE_NONCE $n\"; " \
      "ls -ln $p/ns/mnt $p/task/$n/exe $p/fd </dev/null; done 2>/dev/null"
    while ((cmd | getline line) > 0) {
      if (index(line, mark) == 1) {
        p = substr(line, length(mark) + 1)
        list[++listed] = p
        unlisted[p] = 1
        n = 0
        continue
      }
      if (line == "/proc/" p "/fd:" || line ~ /^total /) delete unlisted[p]
      n++
      at = index(line, " -> ")
      target = at ? substr(line, at + 4) : ""
      line = at ? substr(line, 1, at - 1) : line
      if (n == 1 && line ~ ("/proc/" p "/ns/mnt$")) mount[p] = target
      else if (n == 2 && line ~ ("/proc/" p "/task/" p "/exe$")) exe[p] = target
      else if (n == 3 && line != "" && line != "/proc/" p "/fd:") delete exe[p]
      else if ((p in asleep) && target ~ /^\/proc\//) suspect(p, target)
      else if (shm_files && shm_named(target)) shm_candidate("/proc/" p "/fd/" substr(line, match(line, /[0-9]+$/)))
      else if (target ~ /^\/dev\/nvidia/ && line ~ / [0-9]+$/) open[p] = add(open[p], target)
    }
    close(cmd)
  }
  # The kernel writes a newline in a path as \012: one line is one mapping. Reading may hang: what was known before is
  # out by then.
  function look_maps(   i, p, blind) {
    for (i = 1; i <= listed; i++) {
      p = list[i]
      if (p in wedged) maps_end(p, "!")
      else queue("maps", p, thread[p] "/maps")
    }
    read_queue("maps")
    for (i = 1; i <= listed; i++) {
      p = list[i]
      if ((p in unread || p in unlisted) && load(p) && !kernel[p]) queue("stat", p)
    }
    read_queue("stat")
    for (p in stat_text) {
      if (stat_text[p] == "") continue
      blind++
      if (!(p in wedged) || (p in unlisted)) hidden[p] = 1
    }
    for (i = 1; i <= count; i++) if (order[i] in hidden) print "unreadable " order[i]
    print "blind " (blind + 0)
    print_shm()
  }
  function maps_line(p, line,   f) {
    if (index(line, "/dev/nvidia") && line ~ /^[^ ]+ [^ ]+ [^ ]+ [^ ]+ [0-9]+ +\/dev\/nvidia/)
      mapped[p] = add(mapped[p], substr(line, index(line, "/dev/nvidia")))
    if (shm_files && split(line, f, " ") > 4 && ((f[4] " " f[5]) in shm_map)) shm_user(shm_map[f[4] " " f[5]], p)
  }
  function maps_end(p, how) {
    if (p in using) pick(p)
    if (p in mapped) {
      pick(p)
      if (p in picked) print "mapped " p " " mapped[p]
      flush()
    }
    if (p in headless && thread[p] == "") unlisted[p] = 1
    if (how != ".") unread[p] = 1
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
  END {
    flush()
    look_who()
    look_shm_files()
    if (!look_find()) { shm_printable_only(); look_ls() }
    look_shm_open()
    look_wedged()
    look_who_else()
    wanted[1] = wanted[shell] = 1
    for (p in wanted) want(p + 0)
    for (p in open) want(p)
    if (all) for (i = 1; i <= listed; i++) if (load(list[i]) && !kernel[list[i]] && !own(list[i])) want(list[i])
    read_wanted()
    for (p in wanted) pick(p + 0)
    for (p in open) pick(p)
    for (p in using) pick(p)
    if (all) for (i = 1; i <= listed; i++) if (load(list[i]) && !kernel[list[i]] && !own(list[i])) pick(list[i])
    for (p in open) if (p in picked) print "open " p " " open[p]
    look_local_names()
    done("files")
    look_maps()
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
