#pragma once
// Node sets: gpu[01-31,33] unfolded to names and names folded back.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::inventory {

// "n[01-16]", "n[01:16]", "n[1-3,7]", "r[1-2]n[01-04]". Width of the first bound is kept. Reversed or ragged ranges,
// unbalanced brackets, steps of 0 and more than `max_names` names are errors of kind "range".
Result<std::vector<std::string>> unfold(std::string_view text, std::size_t max_names = 1'000'000);

// The shortest usual form, in natural order: {"gpu01","gpu02","gpu07"} -> "gpu[01-02,07]". unfold(fold(x)) has
// exactly the names of x.
std::string fold(const std::vector<std::string>& names);

}  // namespace cleanslate::inventory
