#pragma once
// What may stand as a host's name, its address and its user. Errors have kind "inventory" and no place;
// whoever read the value adds it.

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::inventory {

// An IPv6 address without brackets, with or without %SCOPE.
bool is_ipv6(std::string_view text);

// [::1] -> ::1; everything else stays.
std::string_view without_brackets(std::string_view text);

// A name of ASCII letters, digits, dots, dashes and underscores that begins with a letter, digit or
// underscore, or an IPv6 address without brackets; at most 255 bytes.
Status check_host_name(std::string_view name);

// Of a group: as a host's name, but no address.
Status check_group_name(std::string_view name);

// What a connection is made to: as a host's name.
Status check_address(std::string_view address);

// Anything without blanks and control bytes that does not begin with a dash; at most 255 bytes.
Status check_user(std::string_view user);

// A path, `~` and `~/...` expanded; no control bytes.
Result<std::string> expand_path(std::string_view path);

}  // namespace cleanslate::inventory
