#pragma once
// A message that was wrapped over several lines. Private to the parser.

#include <optional>
#include <string>
#include <string_view>

namespace cleanslate::agentless {

// Both texts as one line, where they read together like a message known here in full, or like the beginning
// of one: then the second line says nothing of its own.
std::optional<std::string> joined_message(std::string_view first, std::string_view second);

}  // namespace cleanslate::agentless
