#pragma once
// YAML -> Playbook: ordered steps that are executed on every host. docs/playbook-format.md is the user's
// side.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cleanslate::playbooks {

// Which processes a step means. All given keys must hold. A match without a key is refused by the reader, and
// so is a pattern that would match everything: compile them with Pattern (playbooks/pattern.hpp).
struct Match {
    // POSIX extended regular expressions, searched in:
    std::optional<std::string> cmdline;  // the arguments joined by blanks (pkill -f)
    std::optional<std::string> name;     // comm (pkill)
    std::optional<std::string> exe;      // the executable's path
    std::optional<int> pid;
    bool holding_gpu = false;  // `holding: gpu`: holders and openers
    bool tree = false;         // the targets' launchers too: see docs/playbook-format.md
    bool needs_all_processes() const { return cmdline || name || exe || pid; }
};

struct SignalStep {
    int signal = 15;          // TERM, KILL, INT, HUP, QUIT, USR1, USR2
    std::string signal_name;  // without SIG
    Match match;
    // An upper bound: the step ends the moment its targets are gone. 0 s to 1 h; the reader's default for
    // KILL is 30 s.
    Milliseconds wait{10'000};
};

struct RunStep {
    std::string command;           // handed to /bin/sh on the host
    Milliseconds timeout{60'000};  // 1 s to 24 h
    int expect_status = 0;         // 0 to 255
};

struct VerifyStep {
    std::optional<Mebibytes> max_used;  // absent: the host's own limit
    Milliseconds within{10'000};        // keep looking until clean, at most so long; 0 s to 1 h
};

using Action = std::variant<SignalStep, RunStep, VerifyStep>;

struct Step {
    std::string name;  // "TERM holders", from the file or made from the action
    Action action;
    int line = 0;  // where the file has it
};

struct Param {
    std::string name;
    std::optional<std::string> fallback;  // absent: must be given with --set
    std::string description;
};

struct Playbook {
    std::string name;
    std::string description;
    std::vector<Param> params;
    std::vector<std::string> protect;
    std::vector<Step> steps;
    bool needs_all_processes() const;
};

using Settings = std::map<std::string, std::string>;  // --set NAME=VALUE

// Reads one playbook. `file` stands in messages; errors have kind "playbook", name file:line:column and say
// what would be right. A setting that no param names, and a param without value or default, are errors too.
// What comes back has its params filled in.
Result<Playbook> parse_playbook(std::string_view yaml, std::string_view file, const Settings& settings = {});

struct BuiltIn {
    std::string_view name;
    std::string_view text;  // the file, unchanged
};
const std::vector<BuiltIn>& built_in_playbooks();

// NAME of a built-in one, or the path of a file (anything with a / or ending in .yaml or .yml).
Result<Playbook> load_playbook(const std::string& name_or_path, const Settings& settings = {});
Result<std::string> playbook_text(const std::string& name_or_path);

}  // namespace cleanslate::playbooks
