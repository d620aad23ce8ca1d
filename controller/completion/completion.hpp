#pragma once
// What can stand at the cursor of a command line that is being typed. Pure: what has to be looked up is asked
// for.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/command_outline.hpp"

namespace cleanslate::controller {

struct Candidate {
    std::string text;   // the whole word, what was typed of it included
    std::string about;  // one line; may be empty
};

struct Completion {
    std::vector<Candidate> candidates;
    // The word from there on may be the name of a file, which shells know better.
    std::optional<std::size_t> file_from;
};

enum class Lookup {
    hosts,
    hosts_and_groups,
    sweeps,
    playbooks,  // built-in ones
    codes,      // of findings
    topics      // of help, and commands
};
// What the line says of where to look.
struct Whence {
    std::vector<std::string> inventories;  // the values of -i; none: the default ones
    std::optional<std::string> config;     // of --config
    std::string history;                   // of --history; empty: the default one
};
using Look = std::function<std::vector<Candidate>(Lookup what, const Whence& whence)>;

// `typed`: the words up to the cursor, without the program's name; the last one, which may be empty, is to be
// completed.
Completion complete(const CommandNode& program, const std::vector<std::string>& typed, const Look& look);

}  // namespace cleanslate::controller
