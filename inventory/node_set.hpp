#pragma once
// Node sets: gpu[01-31,33] unfolded to names and names folded back.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::inventory {

// The parts between the commas that stand outside of brackets, trimmed; at least one, possibly empty.
std::vector<std::string_view> split_terms(std::string_view text);

// "n[01-16]", "n[01:16]", "n[1-3,7]", "r[1-2]n[01-04]", "n[1-9/2]" or "n[1:9:2]" (every second), "n[a:c]" and
// several of them with commas between. The width of the first bound is kept, and with a dash the last may be
// wider ([01-100], as Slurm prints); each name once, in the order of the text. Reversed or ragged ranges,
// unbalanced brackets, steps of 0, blanks and control bytes in a name, names longer than 255 bytes and more
// than `max_names` names are errors of kind "range".
Result<std::vector<std::string>> unfold(std::string_view text, std::size_t max_names = 1'000'000);

// The shortest usual form, in natural order: {"gpu01","gpu02","gpu07"} -> "gpu[01-02,07]". unfold(fold(x))
// has exactly the names of x, provided that they hold no brackets, commas, blanks or control bytes.
std::string fold(const std::vector<std::string>& names);

}  // namespace cleanslate::inventory
