#pragma once
// Looking at a running fleet from outside: what a judge sees, without asking the hosts' own word.

#include <string>
#include <vector>

#include "tests/fleet/plan.hpp"

namespace cleanslate::simulated {

struct Seen {
    std::string host;
    std::string process;      // name in the description; "-" for sshd sessions and the like
    pid_t pid = 0;            // as the host numbers it
    pid_t outer = 0;          // as the machine numbers it
    std::uint64_t start = 0;  // field 22 of /proc/PID/stat
    char state = '?';
    std::string user;
    std::string command;  // arguments joined by blanks, or (comm)
};

// Every process of every host but its init and kthreadd, ordered by host and pid.
std::vector<Seen> look_at_processes(const Fleet& fleet);

// Lines of tab-separated fields, in the order of Seen's members; and back. Dies on malformed text.
std::string to_tsv(const std::vector<Seen>& seen);
std::vector<Seen> from_tsv(const std::string& text);

struct Ran {
    int status = 0;
    std::string out;
};
// Runs a program on a host as root, as a process of that host (not through its sshd). A program with a slash
// in its name is one of the machine's and need not be visible on the host. `captured`: standard output comes
// back.
Ran run_on(const Member& member, const std::vector<std::string>& argv, bool captured);

}  // namespace cleanslate::simulated
