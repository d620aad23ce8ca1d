# Part of the survey: what processes have mapped, and who could not be read. Functions of join's awk.
# shellcheck shell=sh
# shellcheck disable=SC2016,SC2034 # nothing in the text is the shell's

maps='
  # The kernel writes a newline in a path as \012: one line is one mapping. Reading may hang: what was known before any
  # of this is out by then, but no mapping, not even of those read before the one that hangs; the next survey, which
  # knows that one, shows them. By one grep, which names what it could not read; whether it does, what comes last shows: reading that
  # fails always. False where that is not seen, or where a process is not to be read: then each is read on its own.
  # What it says of errors never breaks a line: it writes first what it has found.
  function look_maps_at_once(   cmd, line, p, failed, whole, odd) {
    if (!found || wedges || listed > 25000) return 0
    cmd = over("grep -aFH -e /dev/nvidia" shm_patterns(), "", "/maps", thread_maps() " self/mem", "2>&1")
    while ((cmd | getline line) > 0) {
      if (line ~ /^[0-9]+\/[a-z0-9\/]*maps:/) maps_line(line + 0, substr(line, index(line, ":") + 1))
      else if (line ~ / self\/mem: /) whole = 1
      else if (match(line, / [0-9]+\/[a-z0-9\/]*maps: /)) {
        p = substr(line, RSTART + 1) + 0
        failed[p] = 1
      }
      else odd = 1
    }
    close(cmd)
    if (!whole || odd) return 0
    for (p in failed) {
      meet(p)
      unread[p] = 1
    }
    look_who_else()
    for (p in mapped) maps_end(p, ".")
    for (p in using) pick(p)
    for (p in headless) if (thread[p] == "") unlisted[p] = 1
    return 1
  }
  function shm_patterns(   key, f, text, device) {
    text = ""
    for (key in shm_map) { split(key, f, " "); device[f[1]] = 1 }
    for (key in device) text = text " -e \" " key " \""
    return shm_files ? text : ""
  }
  function thread_maps(   p, text) {
    text = ""
    for (p in thread) text = text " " p thread[p] "/maps"
    return text
  }
  function look_maps_each(   i, p) {
    for (i = 1; i <= listed; i++) {
      p = list[i]
      if (p in wedged) maps_end(p, "!")
      else queue("maps", p, thread[p] "/maps")
    }
    read_queue("maps")
  }
  function print_blind(   i, p, blind) {
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
'
