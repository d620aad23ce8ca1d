#pragma once
// A first look at a regular expression, before the C library compiles it.

#include <string_view>

#include "base/result.hpp"

namespace cleanslate::playbooks {

// Refuses what the library would take in another sense than its writer, and what it would unfold to more than
// it can hold: it repeats the subexpression in memory for each `+` and {m,n}, so that ((a{9}){9}){9} costs
// 729 copies. Errors have kind "playbook".
Status check_outline(std::string_view pattern);

}  // namespace cleanslate::playbooks
