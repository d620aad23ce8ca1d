#pragma once
// What can stand on the command line, as data: for the manual page and for completion.

#include <string>
#include <vector>

namespace cleanslate::controller {

struct OptionNode {
    std::vector<std::string> names;  // "-i", "--inventory"; of a positional one: "FILE"
    std::string value;               // "FILE", "strict|accept-new|off"; empty: a flag
    std::string description;         // ends with its default
    std::string group;               // "Reaching them"
    bool positional = false;
};

struct CommandNode {
    std::string name;         // "diff"; of the whole: "cleanslate"
    std::string usage;        // "cleanslate history diff [ID [ID]] [options]"
    std::string description;  // one sentence
    std::string footer;       // paragraphs, and examples that are indented
    std::vector<OptionNode> options;
    std::vector<CommandNode> children;  // commands, or a command's actions
};

// Of the whole program, in the order of its help.
CommandNode command_outline();

}  // namespace cleanslate::controller
