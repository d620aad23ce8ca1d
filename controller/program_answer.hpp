#pragma once
// What a program on this machine answers: run without a shell, for a limited time, with a bounded output, and
// with nothing of it left behind.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cleanslate::controller {

struct Program {
    std::vector<std::string> words;    // its name, looked up in PATH where it has no slash, and its arguments
    std::vector<std::string> without;  // variables of the environment here that it does not get
    std::vector<std::pair<std::string, std::string>> variables;  // over and above the environment
    Milliseconds timeout{60'000};
    std::size_t most_bytes = std::size_t{64} << 20;
    std::string if_absent;  // remedy where there is no such program
};

// Kind of the error where there is no such program.
inline constexpr std::string_view absent_program = "command_absent";

// Its standard output. Its standard input is empty; its process group is killed at its end, at the timeout
// and where SIGINT, SIGTERM or SIGHUP comes and is not ignored, which then does what it does. Errors have
// kind "command" and name the program: not to be started, not done in time, more output than that, an exit
// status other than 0 or a signal; with the end of its standard error.
Result<std::string> answer_of(const Program& program);

}  // namespace cleanslate::controller
