#pragma once
// The keys of a match that say whose a process is: its user, and who runs it.

#include <string>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/supervisor.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::agentless {

// `user`, `not_user` and `uid_at_least`. An owner that was not read fits none of them, and an owner without a
// name in the host's passwd is not known to be nobody of `not_user`.
bool fits_owner(const playbooks::Match& match, const Process& process);

// `slurm_job`, `pod`, `container` and `unit`. Who is in none of them must have been seen to be: by its
// cgroup.
bool fits_supervisor(const playbooks::Match& match, const Process& process, const Supervisor& supervisor);

// The keys of fits_owner() and fits_supervisor() that were given, in words: "user alice", "slurm_job none".
// Printable.
std::vector<std::string> words_of_owner(const playbooks::Match& match);
std::vector<std::string> words_of_supervisor(const playbooks::Match& match, const Supervisor& supervisor);

}  // namespace cleanslate::agentless
