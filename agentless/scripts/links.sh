# Part of the survey: what links of /proc lead to. Functions of join's awk. Names of files are hostile text.
# shellcheck shell=sh
# shellcheck disable=SC2016,SC2034 # nothing in the text is the shell's

links='
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
  function is_number(text) { return text ~ /^[0-9]+$/ }
  # Of /proc/PID/fd/N, exe, ns/mnt. What is kept of the path becomes part of commands: there it has digits only.
  function link(path, target,   part) {
    split(path, part, "/")
    if (!is_number(part[3]) || (part[4] == "task" && !is_number(part[5]))) return
    if (part[4] == "task") {  # of a process whose first thread has ended
      if (part[7] != "") open[part[3]] = add(open[part[3]], target)
      else if (target == "" && part[5] != part[3]) thread[part[3]] = "/task/" part[5]
    }
    else if (part[4] == "fd" && target ~ /^\/proc\/[0-9]/ && target !~ /\/dev\/nvidia/) suspect(part[3], target)
    else if (part[4] == "fd") {
      meet(part[3])
      if (part[5] != "") open[part[3]] = add(open[part[3]], target)
      else unlisted[part[3]] = 1
    }
    else if (target == "") return
    else if (part[4] == "exe") exe[part[3]] = target
    else if (part[4] == "ns") mount[part[3]] = target
  }
  # What find knows of links: descriptors that lead to device files, folders of descriptors that cannot be read, and
  # executables and mount namespaces of those that are wanted already. A target can hold newlines, and another one each
  # time it is read: so always NUL ends a record, and tr swaps the two. Behind a chroot a device file has another path:
  # there it must be a device, since anybody may call a file so and have others open it. Links of descriptors have no
  # mode 777. The tests stand in alternatives: find puts what it takes for cheaper in front of what is joined by "and",
  # and would follow each descriptor, which may hang where a server does not answer.
  function look_find(   cmd, line, ok) {
    cmd = print_links()
    cmd = "-maxdepth 1 " shm_links() \
      "\\( ! -lname \"*/dev/nvidia*\" \\( -type d \\( ! -readable -printf \"%p -\\0\"" \
      (threads == "" ? "" : " -o -path \"*/task/*\" -printf \"%p\\0\"") \
      " \\) -o -perm 777 \\( -path /proc/self -printf \"ok\\0\" -o " cmd " \\) -o -true \\)" \
      " -o -lname \"/dev/nvidia*\" " cmd " -o -xtype c " cmd " -o -perm 777 " cmd " \\)"
    cmd = over("find", "/proc/", "/fd", threads unlinked(500) " /proc/self", cmd) swapped()
    while ((cmd | getline line) > 0) {
      if (line == "ok") ok = 1
      else if (index(line, "shm /proc/") == 1) shm_candidate(substr(line, 5))
      else take_link(line)
    }
    close(cmd)
    if (!ok) return 0
    look_asleep()
    return 1
  }
  function take_link(line,   at) {
    at = index(line, " ")
    if (at) link(substr(line, 1, at - 1), substr(line, at + 1))
    else link(line, "")
  }
  function print_links() { return "-printf \"%p %l\\0\"" }
  function swapped() { return " | tr \"\\n\\000\" \"\\001\\n\"" }
  # What those in state D have open of other processes.
  function look_asleep(   cmd, line, p, n, some) {
    n = 0
    some = ""
    for (p in asleep) if (n++ < 1000) some = some " /proc/" p "/fd"
    if (some == "") return
    cmd = "find" some " -maxdepth 1 -lname \"/proc/[0-9]*/[cems]*\" " print_links() \
      " 2>/dev/null </dev/null" swapped()
    while ((cmd | getline line) > 0) take_link(line)
    close(cmd)
  }
  # Links of at most so many of the wanted whose links are not known. One argument of a program, which a command is, has
  # 131072 bytes at most, and over() writes these twice.
  function unlinked(most,   text) {
    text = ""
    for (; most > 0 && linked < links; most--) {
      linked++
      text = text " /proc/" to_link[linked] "/exe /proc/" to_link[linked] "/ns/mnt"
    }
    return text
  }
  function look_links(   cmd, line) {
    while (found && linked < links) {
      cmd = "find" unlinked(1000) " -maxdepth 0 " print_links() " 2>/dev/null </dev/null" swapped()
      while ((cmd | getline line) > 0) take_link(line)
      close(cmd)
    }
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
        if (!is_number(p)) p = 0
        meet(p)
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
'
