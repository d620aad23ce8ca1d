#pragma once
// Whose a process still is: who is logged in, which scheduler a host has, and who has been left behind.

#include <optional>
#include <string>

#include "agentless/evidence.hpp"
#include "agentless/lineage.hpp"

namespace cleanslate::agentless {

// "slurmd", "kubelet", "pbs_mom", ...: the daemon of a scheduler that runs here as root or as an account of
// the system, not in a container; absent: none was seen. Needs a survey of all processes.
std::optional<std::string> scheduler_of(const Evidence& evidence);

// Somebody of that uid is logged in: a session of logind that is not closing, an sshd or login of theirs, or
// a shell of theirs on a terminal.
bool is_logged_in(std::uint32_t uid, const Evidence& evidence, const Lineage& lineage);

// Why `process` is nobody's any more, in words ("orphaned: its parent is init, session 3 is closed"); absent:
// it is not orphaned, or that was not proven. docs/killing.md has the rule:
// - its parents, as far as they are of the same user, lead to init or to a subreaper of that user (systemd
//   --user), and none of them is a way in, a terminal multiplexer with its owner logged in, a supervisor, or
//   protected;
// - neither it nor any of them belongs to a unit (the system's or a user's), container, pod, Slurm job or a
//   login session that is alive;
// - where one of them ignores SIGHUP (nohup), its owner is not logged in.
// What could not be read makes nobody an orphan. Needs a survey of all processes.
std::optional<std::string> orphaned(const Process& process, const Evidence& evidence, const Lineage& lineage);

}  // namespace cleanslate::agentless
