#pragma once
// Whole small files, read within a bound.

#include <cstddef>
#include <string>

#include "base/result.hpp"

namespace cleanslate {

// The bytes of a regular file or pipe, or of standard input for "-". Errors have kind "file": what can not be
// opened or read, a folder, and more than `max_bytes`.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace cleanslate
