#pragma once
// ssh's patterns: `*`, `?`, and lists with negation.

#include <string>
#include <string_view>

namespace cleanslate::agentless::ssh {

std::string in_small_letters(std::string_view text);

bool is_wildcard(std::string_view pattern);

// `*` is any text, `?` any one byte.
bool matches_pattern(std::string_view text, std::string_view pattern);

// "a*,!ab": one of the patterns matches and no negated one does.
bool matches_pattern_list(std::string_view text, std::string_view list);

}  // namespace cleanslate::agentless::ssh
