#pragma once
// What a host's systemd, container engines and Slurm manage: the processes in the cgroup of a unit, container
// or job. And the socket over which their stand-ins speak to the host's init.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::simulated {

enum class Managed { unit, container, job };

// `name` is a unit's, the beginning of a container's id, or a job's number.
bool is_managed_by(std::string_view cgroup, Managed kind, std::string_view name);

// The living processes of this host that are in it, without the caller.
std::vector<pid_t> members_of(Managed kind, std::string_view name);

std::string control_socket();  // of init: takes "stop KIND NAME", "start KIND NAME", "reboot"
std::string to_word(Managed kind);
// Sends a request and waits until init has taken it.
void ask_init(const std::string& request);

}  // namespace cleanslate::simulated
