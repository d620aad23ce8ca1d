#pragma once
// Starting a described process: by the host's init, or by another worker that is its parent.

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

// "PID NAME" of every process started, the host's numbers, oldest first: how the outside knows them by name.
std::string started_file();

// The cgroup hierarchies that this host has mounted, e.g. /sys/fs/cgroup/systemd.
std::vector<std::string> cgroup_roots();

// Moves the calling process into `path` of every hierarchy, creating it. Dies where it cannot.
void enter_cgroup(const std::string& path);

// The same into one that is there and open to everybody, for processes that go themselves.
void join_cgroup(const std::string& path);

// Starts `spec` in its cgroup, as its user, with /dev/null as its three streams and no other descriptor
// unless it inherits; returns its pid once the new program runs. For a spec without exe the child returns 0
// here and goes on as a copy of the caller.
pid_t launch(const ProcessSpec& spec);

// Tells the host's init that a process is set up.
void notify_ready(const std::string& process);

}  // namespace cleanslate::simulated
