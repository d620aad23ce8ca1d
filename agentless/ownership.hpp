#pragma once
// Whose a process still is: who is logged in, which scheduler a host has, and who has been left behind.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/lineage.hpp"
#include "agentless/supervisor.hpp"

namespace cleanslate::agentless {

// "slurmd", "kubelet", "pbs_mom", ...: the daemon of a scheduler that runs here as root or as an account of
// the system, not in a container; absent: none was seen. Needs a survey of all processes.
std::optional<std::string> scheduler_of(const Evidence& evidence);

// Somebody of that uid is logged in: a session of logind that is not closing, an sshd or login of theirs, or
// a shell of theirs on a terminal, or a mosh-server.
bool is_logged_in(std::uint32_t uid, const Evidence& evidence, const Lineage& lineage);

// What one survey says of whose its processes are; made once for all of them. The evidence and the lineage
// must outlive it.
class Ownership {
  public:
    Ownership(const Evidence& evidence, const Lineage& lineage);

    bool is_logged_in(std::uint32_t uid) const;

    // Why `process` is nobody's any more, in words ("orphaned: its parent is init, session 3 is closed");
    // absent: it is not orphaned, or that was not proven. docs/killing.md has the rule:
    // - its parents, as far as they are of the same user, lead to init or to a subreaper of that user
    //   (systemd --user), and none of them is a way in, a supervisor, protected, or a container's main
    //   program;
    // - neither it nor any of them belongs to a unit (the system's or a user's), container, pod, Slurm job or
    //   a login session that is alive, and so does the leader of its session, where that one lives;
    // - where one of them is a terminal multiplexer, has a terminal, or ignores SIGHUP (nohup), its owner is
    //   not logged in.
    // What could not be read makes nobody an orphan. Needs a survey of all processes.
    std::optional<std::string> orphaned(const Process& process) const;

  private:
    enum class Place { owned, left, nobodys };  // left: by a session or a user's systemd that is gone
    struct Chain {
        std::vector<const Process*> processes;  // it and its parents of the same user, itself first
        bool of_init = true;                    // else of the user's own systemd
    };

    void see_logins();
    void see_managers();
    void see_scopes();
    void see_main_program();
    std::optional<Chain> chain_above(const Process& process) const;
    bool stands_alone(const Process& process) const;
    Place place_of(const Process& process, std::string& words) const;
    Place login_place(const Process& process, const Supervisor& login, std::string& words) const;
    bool manager_lives(const std::string& uid) const;
    bool is_manager(const Process& process) const;

    const Evidence& evidence_;
    const Lineage& lineage_;
    std::set<std::uint32_t> logged_in_;
    std::set<std::uint32_t> managers_;     // users whose own systemd runs
    std::set<std::string> living_scopes_;  // of login sessions, by path: the way in still lives there
    std::uint64_t main_start_ = 0;         // of the main program of a container: no child of pid 1 is older
    bool anybody_may_be_in_ = false;       // a session whose user could not be read
    bool any_manager_may_live_ = false;    // a systemd whose user could not be read
    mutable std::unordered_map<const Process*, bool> alone_;  // stands_alone(), once for each
};

// The same for one question.
bool is_logged_in(std::uint32_t uid, const Evidence& evidence, const Lineage& lineage);
std::optional<std::string> orphaned(const Process& process, const Evidence& evidence, const Lineage& lineage);

}  // namespace cleanslate::agentless
