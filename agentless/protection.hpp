#pragma once
// Which processes no step may signal, and by which rule. docs/protected.md has the table this implements.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// The entries added and taken out by inventory, playbook and command line. A protect entry is the basename of
// an executable (or its whole path, where it has a '/'), the name of a script run by an interpreter, or a
// systemd unit (ends in .service, .scope, .slice); it may end in * (prefix). An unprotect entry is a built-in
// one as it is spelled in the table. What is in both is protected.
struct ProtectionRules {
    std::vector<std::string> protect;
    std::vector<std::string> unprotect;
};

struct ProtectedEntry {
    std::string_view exe;     // basename of /proc/PID/exe, or a whole path; may end in * (prefix)
    std::string_view owners;  // "root", a blank-separated list of account names, or "any"
    // Run by root or such an account it counts in a container too, where daemons that watch GPUs often live.
    bool in_containers = false;
    bool script = false;  // `exe` is a script that python runs
    std::string_view why;
    bool on_gpus = false;  // has memory of its own there, whoever runs it
};
const std::vector<ProtectedEntry>& protected_entries();

// The rule that protects `process`, in words ("built-in: nvidia-persistenced", "pid 1", "kernel thread", "the
// session's own ancestor", "asked for by protect: foo"); absent: not protected.
std::optional<std::string> protected_by(const Process& process, const Evidence& evidence,
                                        const ProtectionRules& rules);

// For a process that protected_by() does not protect because its executable (or the file's owner) could not
// be read: the entry it would be if it is what it calls itself. Its memory counts like anybody's, but it is
// not signalled.
std::optional<std::string> may_be_protected(const Process& process, const ProtectionRules& rules);

}  // namespace cleanslate::agentless
