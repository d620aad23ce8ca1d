# Part of the survey: who is logged in, and files right in /dev/shm with those who use them. Only where it is asked for;
# POSIX sh and functions of join's awk. docs/remote-protocol.md has the grammar of what they print.
# shellcheck shell=sh
# shellcheck disable=SC2016,SC2034 # nothing in the text is the shell's

# systemd-logind's files, by the shell's own read: no fork. Beside them are FIFOs, which must never be opened: that waits
# for a writer. `sessions` says that these were all; of more than 4096 it would not be true.
print_sessions() {
  cd /run/systemd/sessions || return 0
  if [ ! -r . ]; then
    cd /
    return 0
  fi
  found=0
  for session in *; do
    case $session in *[!A-Za-z0-9]*) continue ;; esac
    if [ ${#session} -gt 64 ] || [ ! -f "$session" ] || [ -h "$session" ]; then continue; fi
    owner='' leader='' state=''
    while IFS='=' read -r key value; do
      case $key in
        UID) owner=$value ;;
        LEADER) leader=$value ;;
        STATE) state=$value ;;
      esac
    done <"$session" || continue
    found=$((found + 1))
    [ "$found" -le 4096 ] || break
    case $owner in *[!0-9]* | ???????????*) owner= ;; esac
    case $leader in *[!0-9]* | ???????????*) leader= ;; esac
    case $state in *[!a-z-]* | ?????????????????*) state= ;; esac
    echo "session $session ${owner:--} ${leader:--} ${state:--}"
  done
  [ "$found" -gt 4096 ] || echo "sessions"
  cd /
}

leftovers='
  # Regular files right in /dev/shm whose name fits: each as "/DEVICE INODE ... ./NAME/". No name has a / in it, so with
  # that as the separator a name is one record whatever it holds. The folder itself comes last and shows that all of
  # them came. In a child of its own: the shell finds the names, and they never become options or patterns.
  function look_shm_files(   cmd, pattern, i, n, text, numbers) {
    n = split(shm, pattern, " ")
    if (!n) return
    cmd = "cd -P /dev/shm && set --"
    for (i = 1; i <= n; i++) cmd = cmd " ./" pattern[i]
    cmd = cmd " && [ $# -le 6000 ] && { stat -c \"/%d %i %u %s %h %Y %Z %f %n/\" \"$@\" ./.; date +%s; }"
    cmd = "{ " cmd "; } 2>/dev/null </dev/null"
    n = 0
    RS = "/"
    while ((cmd | getline text) > 0) {
      if (++n % 3 == 2) numbers = text
      else if (n % 3 == 0) shm_file(numbers, text)
      else if (text ~ /^\n*[0-9]+\n*$/) { shm_now = text; gsub(/\n/, "", shm_now) }
    }
    close(cmd)
    RS = "\n"
    if (shm_files > 4096 || shm_now == "") shm_whole = 0
  }
  function shm_file(numbers, called,   f) {
    if (called == ".") { shm_whole = 1; return }
    if (split(numbers, f, " ") != 9 || (f[1] f[2] f[3] f[4] f[5] f[6] f[7]) !~ /^[0-9]+$/ || f[8] !~ /^8[0-9a-f][0-9a-f][0-9a-f]$/ || (called in shm_listed)) return
    if (++shm_files > 4096) return
    shm_listed[called] = 1
    shm_name[shm_files] = called
    shm_key[shm_files] = f[1] " " f[2]
    shm_rest[shm_files] = f[3] " " f[4] " " f[5] " " (f[6] + 0 > f[7] + 0 ? f[6] : f[7])
    uids[f[3]] = 1
    shm_key_of(f[1], f[2])
  }
  # As stat has it, and as maps has it.
  function shm_key_of(device, inode) {
    shm_stat[device " " inode] = 1
    shm_map[sprintf("%02x:%02x ", int(device / 256) % 4096, device % 256 + int(device / 1048576) * 256) inode] = \
      device " " inode
  }
  # For find: links that may lead to one of them, whatever the folder is called from there.
  function shm_links(   pattern, i, n, links) {
    n = shm_files ? split(shm, pattern, " ") : 0
    if (!n) return ""
    links = ""
    for (i = 1; i <= n; i++) links = links (i > 1 ? " -o" : "") " -lname \"*/" pattern[i] "\""
    return "\\( \\(" links " \\) -printf \"shm %p\\0\" , -false \\) -o "
  }
  function shm_candidate(path) {
    if (path !~ /^\/proc\/[0-9]+\/(task\/[0-9]+\/)?fd\/[0-9]+$/) return
    if (candidates < 20000) candidate[++candidates] = path
    else shm_whole = 0
  }
  # Where links are read by ls it may mangle other names: those files are not shown.
  function shm_printable_only(   i, n) {
    n = shm_files
    shm_files = 0
    for (i = 1; i <= n; i++) {
      if (shm_name[i] ~ /[^ -~]/) { delete shm_listed[shm_name[i]]; continue }
      shm_files++
      shm_name[shm_files] = shm_name[i]
      shm_key[shm_files] = shm_key[i]
      shm_rest[shm_files] = shm_rest[i]
    }
  }
  function shm_named(target) {
    sub(/^.*\//, "", target)
    return target in shm_listed
  }
  # A name says little: device and inode say which file it is. Another one of that name may be on a server that does
  # not answer; where the last path did not come, the list is not shown.
  function look_shm_open(   cmd, i, n, line, f, part, whole) {
    for (i = 1; i <= candidates; i += 1000) {
      cmd = ""
      for (n = i; n <= candidates && n < i + 1000; n++) cmd = cmd " " candidate[n]
      cmd = "limit=; if timeout 3 true; then limit=\"timeout 3\"; fi; $limit stat -L -c \"%d %i %n\"" cmd " /"
      cmd = "{ " cmd "; } 2>/dev/null </dev/null"
      whole = 0
      while ((cmd | getline line) > 0) {
        split(line, f, " ")
        if (f[3] == "/") whole = 1
        else if ((f[1] " " f[2]) in shm_stat) {
          split(f[3], part, "/")
          shm_user(f[1] " " f[2], part[3])
        }
      }
      close(cmd)
      if (!whole) shm_whole = 0
    }
  }
  function shm_user(key, p) {
    using[p] = 1
    if (!((key, p) in shm_seen) && shm_count[key]++ < 500)
      shm_users[key] = shm_users[key] (shm_users[key] == "" ? "" : ",") p
    shm_seen[key, p] = 1
  }
  function print_shm(   i) {
    if (!shm_whole) return
    for (i = 1; i <= shm_files; i++)
      print "shmfile " shm_key[i] " " shm_rest[i] " " esc(shm_name[i]) " " esc(shm_users[shm_key[i]])
    print "shm " (shm_files + 0) " " shm_now
  }
'
