#pragma once
// A driver that never lets go, shown by the freezer of cgroup v1: a process in a frozen cgroup is in state D,
// and not even SIGKILL ends it before the cgroup is thawed.

#include <sys/types.h>

#include <string>

namespace cleanslate::simulated {

// Inside a simulated host: makes the cgroup and freezes it. Dies where the machine has no v1 freezer.
void make_frozen_cgroup();

// Joins it; returns only where there is none.
void freeze();

// Puts those into it who have a file of /proc/PID open and are in state D: once they are killed, they stay.
void freeze_readers(pid_t pid);

// Thaws `folder`, a cgroup of the freezer, and all below it.
void thaw(const std::string& folder);

}  // namespace cleanslate::simulated
