#pragma once
// `cleanslate help`. Private to how a command line is read.

#include <string>

#include "base/result.hpp"
#include "controller/command_tree.hpp"

namespace cleanslate::controller {

// What the words behind `help` ask for: none: the program's own help; a command, with or without its action:
// its help, and the topic of the same name below; a topic; `topics`: all of them. An error of kind "usage"
// names the near word.
Result<std::string> help_on(const CommandTree& tree);

}  // namespace cleanslate::controller
