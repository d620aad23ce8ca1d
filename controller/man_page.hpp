#pragma once
// cleanslate(1), made of the same texts as --help.

#include <string>

#include "controller/command_outline.hpp"

namespace cleanslate::controller {

// In the language of man(7). `date`: "2026-11-30".
std::string man_page(const CommandNode& program, const std::string& version, const std::string& date);

}  // namespace cleanslate::controller
