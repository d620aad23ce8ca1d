#pragma once
// What a list of node sets or patterns is made of: its terms, and what is done with each of them.

#include <string_view>
#include <vector>

namespace cleanslate::inventory {

// `x`, `&x`, `!x`, and ClusterShell's `^x`: what is in one of the two.
enum class Sign { add, keep, drop, toggle };

struct SignedTerm {
    Sign sign = Sign::add;
    bool glued = false;     // the sign stands right behind another term, as ClusterShell writes it: a!b
    std::string_view text;  // trimmed, without its sign; possibly empty
};

enum class Separators { commas, commas_and_colons };

// At least one term. Nothing inside of brackets separates. An IPv6 address keeps its colons, what begins with
// `@` (the name of a file) all but commas, and a regular expression (`~`) what stands in its parentheses and
// braces, and its signs.
std::vector<SignedTerm> signed_terms(std::string_view list, Separators separators);

}  // namespace cleanslate::inventory
