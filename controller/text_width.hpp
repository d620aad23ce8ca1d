#pragma once
// How many columns of a terminal printable text takes.

#include <cstddef>
#include <string>
#include <string_view>

namespace cleanslate::controller {

// Two for a wide character (CJK, emoji), none for one that combines with what is before it, else one. What is
// not valid UTF-8 counts byte by byte.
std::size_t width_of(std::string_view utf8);

// No terminal shows it in more columns, whatever it takes for wide.
std::size_t most_columns_of(std::string_view utf8);

// Cut to at most so many columns, ending in "..." where something was cut.
std::string shortened(std::string_view utf8, std::size_t columns);

}  // namespace cleanslate::controller
