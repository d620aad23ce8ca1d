#pragma once
// Files read within a bound: whole small ones, and any other piece by piece.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate {

// The bytes of a regular file or pipe, or of standard input for "-". Errors have kind "file": what can not be
// opened or read, a folder, and more than `max_bytes`.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

// The same bytes in pieces of at most 64 KiB, however many there are. An error of `use` ends it and is
// returned.
Status read_pieces(const std::string& path, const std::function<Status(std::string_view)>& use);

}  // namespace cleanslate
