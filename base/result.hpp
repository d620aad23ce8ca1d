#pragma once
// Result<T> is how every function of the project says that it can fail. Only main turns an Error into an exit
// status; a host's failure is data in the report.

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace cleanslate {

// What went wrong, in the four parts an operator needs. The host is added where it is known: by the report.
struct Error {
    std::string kind;     // stable word for programs: "usage", "connect_timeout", "host_key_changed", ...
    std::string phase;    // what was being done: "inventory", "connect", "auth", "survey", ...; may be empty
    std::string message;  // the cause, one line, no trailing full stop
    std::string remedy;   // what the operator can do about it; may be empty
};

template <class T>
using Result = std::expected<T, Error>;

using Status = Result<void>;

inline std::unexpected<Error> fail(std::string kind, std::string message, std::string remedy = {}) {
    return std::unexpected(Error{std::move(kind), {}, std::move(message), std::move(remedy)});
}

// Adds one layer's context in front of the message: "playbook clear.yaml: unknown key".
inline Error with_context(Error error, std::string_view context) {
    error.message.insert(0, std::string(context) + ": ");
    return error;
}

// Names the phase, unless a deeper layer already did.
inline Error in_phase(Error error, std::string_view phase) {
    if (error.phase.empty()) error.phase = phase;
    return error;
}

}  // namespace cleanslate
