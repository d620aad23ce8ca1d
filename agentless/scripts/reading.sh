# Part of the survey: how files of /proc are read. Functions of join's awk. Some awks end where a read fails, as of a
# process that ends between open and read: so another awk reads, and behind the file at which it ended comes the next.
# shellcheck shell=sh
# shellcheck disable=SC2016,SC2034 # nothing in the text is the shell's

reading='
  # Files of one kind are queued, then read in that order. Each comes as its lines, then as how it ended: "." well, "!"
  # not to be read, "-" the reader ended there. A line is taken as it comes: reading the next file may hang.
  function queue(kind, p, file) {
    if (!is_number(p)) return  # it becomes part of a command
    queued[kind]++
    whose[kind, queued[kind]] = p
    path[kind, queued[kind]] = p (file == "" ? "/" kind : file)
    if (kind == "stat") stat_text[p] = ""
  }
  function read_queue(kind,   n, i, at, last, cmd, line) {
    n = queued[kind] + 0
    queued[kind] = 0
    for (i = 1; i <= n; i = at) {
      last = i + 999 < n ? i + 999 : n
      cmd = "cd /proc; awk \047" program_for(kind) "\047"
      for (at = i; at <= last; at++) cmd = cmd " " path[kind, at]
      cmd = cmd " 2>/dev/null </dev/null"
      at = i
      while ((cmd | getline line) > 0) {
        if (index(line, " ") == 1) take_line(kind, whose[kind, at], substr(line, 2))
        else take_end(kind, whose[kind, at++], line)
      }
      close(cmd)
      if (at > last) continue
      # Of one that lives on, something is not known that may matter.
      if (!ended(whose[kind, at]) || ++reader_ends > 1000) broken = 1
      take_end(kind, whose[kind, at++], "-")
      if (reader_ends > 1000) return
    }
  }
  function program_for(kind,   keep, key, f, device) {
    keep = ""
    if (kind == "status") keep = "if (line ~ /^(Uid|SigIgn):/) "
    if (kind == "maps") {
      keep = "if (index(line, \"/dev/nvidia\")"
      if (shm_files) {
        for (key in shm_map) { split(key, f, " "); device[f[1]] = 1 }
        for (key in device) keep = keep " || index(line, \" " key " \")"
      }
      keep = keep ") "
    }
    return "BEGIN { for (i = 1; i < ARGC; i++) { file = ARGV[i]; " \
      "while ((got = (getline line < file)) > 0) " keep "print \" \" line; " \
      "close(file); if (got < 0) print \"!\"; else print \".\"; fflush() } }"
  }
  # The kernel lets no newline into the path of a control group: the lines of v2 and of systemd, and of the others one
  # for each path. Of status, whether it ignores SIGHUP is bit 0 of SigIgn.
  function take_line(kind, p, line,   f, group) {
    if (kind == "maps") maps_line(p, line)
    else if (kind == "stat") stat_text[p] = stat_text[p] (stat_text[p] == "" ? "" : "\n") line
    else if (kind == "cgroup") {
      group = line
      sub(/^[0-9]+:[^:]*:/, "", group)
      if (line ~ /^0::/ || line ~ /^[0-9]+:name=systemd:/) named[p] = named[p] line "\n"
      else if (!((p, group) in grouped) && length(others[p]) < 8192) {
        grouped[p, group] = 1
        others[p] = others[p] line "\n"
      }
    }
    else if (index(line, "SigIgn:") == 1) {
      if (!kernel[p] && line ~ /[13579bdf]$/) nohup[p] = 1
    }
    else if (uid[p] == "-") {
      split(line, f, /[ \t]+/)
      if (f[2] ~ /^[0-9]+$/) { uid[p] = f[2]; uids[uid[p]] = 1 }
    }
  }
  function take_end(kind, p, how) {
    if (kind == "maps") maps_end(p, how)
    else if (kind == "stat" && how != ".") stat_text[p] = ""
  }
  function stat_of(p,   text) {
    queue("stat", p)
    read_queue("stat")
    text = stat_text[p]
    delete stat_text[p]  # what stays there was asked for in a row
    return text
  }
  function uid_of(p) {
    want_only(p)
    read_wanted()
    return uid[p]
  }
  function cgroup_of(p) {
    return substr(named[p] others[p], 1, 8192)
  }
  # Whose status and control groups are to be read: p and everything above it, also where p alone was wanted before.
  function want(p) {
    while (p > 0 && !(p in climbed) && load(p)) {
      climbed[p] = 1
      want_only(p)
      p = parent[p]
    }
  }
  function want_only(p) {
    if ((p in asked) || !is_number(p)) return
    asked[p] = 1
    to_link[++links] = p
    if ((p in uid) && uid[p] != "-" && (kernel[p] || cgroup_of(p) != "")) return  # look_who has seen it
    uid[p] = "-"
    named[p] = others[p] = ""
    queue("status", p)
    if (!kernel[p]) queue("cgroup", p)
  }
  # Who has ended by then, into gone: what is missing of it is nothing that somebody keeps from us.
  function read_wanted(   n) {
    n = queued["status"]
    read_queue("status")
    read_queue("cgroup")
    look_gone(n)
    look_links()
  }
  function look_gone(n,   i, p) {
    for (i = 1; i <= n; i++) {
      p = whose["status", i]
      if (uid[p] == "-" || (!kernel[p] && cgroup_of(p) == "")) queue("stat", p)
    }
    n = queued["stat"] + 0
    if (n) read_queue("stat")
    for (i = 1; i <= n; i++) {
      p = whose["stat", i]
      if (stat_text[p] == "") gone[p] = 1
      delete stat_text[p]
    }
  }
  # Asked without reading. Where it cannot be asked, it lives.
  function ended(p) {
    return system("[ ! -e /proc/" p "/stat ]") == 0
  }
'
