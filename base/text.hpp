#pragma once
// Small text helpers that know nothing of the domain.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleanslate {

std::string_view trim(std::string_view text);  // blanks, tabs, CR and LF at both ends
std::vector<std::string_view> split(std::string_view text, char separator);
bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes);

// The whole text as a plain decimal number: digits only, no sign, no blanks, no separators, no overflow.
std::optional<std::uint64_t> parse_number(std::string_view text);

// Where the first byte stands that is not part of valid UTF-8; nothing where all is valid.
std::optional<std::size_t> invalid_utf8(std::string_view text);

// Text from a host, made safe for a terminal and for JSON: valid UTF-8 that is printable stays; control
// bytes, invalid UTF-8, C1 controls, bidirectional overrides and other invisible code points become \xNN
// (each byte). Backslashes stay.
std::string printable(std::string_view bytes);

// Cut to at most `columns` code points (a byte of invalid UTF-8 counts as one), ending in "..." where
// something was cut.
std::string ellipsize(std::string_view text, std::size_t columns);

// RFC 3339 in UTC, whole seconds: "2026-11-29T12:00:00Z". What lies outside the years 0 to 9999 is clamped.
std::string rfc3339(std::int64_t unix_seconds);

}  // namespace cleanslate
