#pragma once
// What a process is called: the basename of its executable, the script that an interpreter runs; and how an
// entry of a list of names is compared with them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// What stands behind the last '/'.
std::string_view base_name(std::string_view path);

// Basename of the executable; where that could not be read, comm (which the process itself may have set).
std::string_view name_of(const Process& process);

// For messages, printable: "pid 812 (python3)"; "alice", "uid 1000", "an unknown user".
std::string title_of(const Process& process);
std::string owner_of(const Process& process);

// `entry` is a whole name, or a prefix and a '*'. An empty entry fits nothing.
bool fits(std::string_view entry, std::string_view name);
bool fits_any(const std::vector<std::string_view>& entries, std::string_view name);
// As fits(), for a comm: the kernel has cut it to 15 bytes.
bool fits_comm(std::string_view entry, std::string_view comm);

// A Slurm job's own daemon, by its name alone.
bool is_slurmstepd(const Process& process);
bool is_python(std::string_view name);
bool is_shell(const Process& process);
bool is_interpreter(const Process& process);  // python, perl, ruby, node or a shell

// Basename of the script that a python runs, or the module of `-m`: the first argument that is no option.
// Absent for everything else. The process itself wrote its arguments: whoever relies on this needs a second
// witness.
std::optional<std::string_view> python_script(const Process& process);

}  // namespace cleanslate::agentless
