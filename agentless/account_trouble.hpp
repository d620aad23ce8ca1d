#pragma once
// What hosts print in place of running a command where an account may not work there: texts of OpenSSH, PAM,
// sudo, nologin and cloud images.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::agentless {

// The code of the finding: "password-expired", ...; empty where the text says nothing that is known here. To
// be asked only of what a host said that refused a login or ran nothing: any message of the day may speak of
// passwords.
std::string_view account_trouble(std::string_view text);

// An error without a phase: the code's meaning and remedy, and `because`.
Error account_error(std::string_view code, std::string_view because);

// The same of the first text that says something, with the line in which the host says so. Absent: none does.
std::optional<Error> account_error(std::initializer_list<std::string_view> printed);

// The code of the finding that an error of this kind is, too ("password_expired" -> "password-expired");
// empty where it is none.
std::string finding_code_of(const Error& error);

}  // namespace cleanslate::agentless
