#pragma once
// What a word that nobody knows was meant for. Private to how a command line is read.

#include <string>

#include "controller/command_tree.hpp"

namespace cleanslate::controller {

// "no such command: chekc. Did you mean check?"
std::string no_such_command(const CommandTree& tree, const std::string& word);

// Of the command that was named: "no such option: --dryrun. Did you mean --dry-run?", "--yes belongs to clear
// and run", of one that stands before its command that it belongs behind it, and of what is no option how
// hosts are named.
std::string no_such_option(const CommandTree& tree, const std::string& word);

}  // namespace cleanslate::controller
