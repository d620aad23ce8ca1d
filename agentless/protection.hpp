#pragma once
// Which processes no step may signal, and by which rule. docs/protected.md has the table this implements.

#include <optional>
#include <string>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// The entries added and taken out by inventory, playbook and command line. A protect entry is the basename of an
// executable, the name of a script run by an interpreter, or a systemd unit (ends in .service, .scope, .slice).
struct ProtectionRules {
    std::vector<std::string> protect;
    std::vector<std::string> unprotect;
};

struct ProtectedEntry {
    std::string_view exe;     // basename of /proc/PID/exe; may end in * (prefix)
    std::string_view owners;  // "root", a blank-separated list of account names, or "any"
    std::string_view why;
};
const std::vector<ProtectedEntry>& protected_entries();

// The rule that protects `process`, in words ("built-in: nvidia-persistenced", "pid 1", "kernel thread", "the
// session's own ancestor", "asked for by protect: foo"); absent: not protected.
std::optional<std::string> protected_by(const Process& process, const Evidence& evidence, const ProtectionRules& rules);

}  // namespace cleanslate::agentless
