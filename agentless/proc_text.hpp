#pragma once
// Reads texts of /proc as the kernel writes them. Bounded, never throws; what is not as it should be is
// absent.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// /proc/PID/stat into key, parent, session, tty, state, kernel_thread and comm. comm may hold blanks,
// newlines and parentheses: it ends at the last one. False where `text` is no such line; `process` is
// unchanged then.
bool read_stat(std::string_view text, Process& process);

// The path that names a process best among the lines of /proc/PID/cgroup: one that tells of a Slurm job or a
// pod, else of a container, whichever line that is; else the v2 line where it says more than "/", else that
// of name=systemd, else the longest. Absent where there is no line.
std::optional<std::string> best_cgroup(std::string_view text);

// Arguments with a NUL behind each, as in /proc/PID/cmdline. Empty ones at the end are what a process that
// renamed itself left there, and are dropped.
std::vector<std::string> split_arguments(std::string_view text);

// "0,3,cap12,c": the minors of /dev/nvidiaN and the N of /dev/nvidia-caps/nvidia-capN, each ascending and
// without repeats, and whether any other /dev/nvidia* than /dev/nvidiaN is there (c).
struct DeviceFiles {
    std::vector<int> minors;
    std::vector<int> caps;
    bool control = false;
};
std::optional<DeviceFiles> read_device_files(std::string_view text);

// "580.159.04" out of the line `NVRM version: ...` of /proc/driver/nvidia/version; empty where there is none.
std::string driver_version_in(std::string_view line);

}  // namespace cleanslate::agentless
