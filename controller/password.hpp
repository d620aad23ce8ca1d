#pragma once
// A question whose answer is not shown: sudo's password, read from the terminal once.

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::controller {

// Writes over the bytes before it lets go of them.
void wipe(std::string& secret);

// Asks on the controlling terminal. Call it before any thread is started: while it waits, SIGINT, SIGTERM,
// SIGHUP, SIGQUIT and SIGTSTP are its own, so that the terminal is as it was whatever ends it; each of them
// is taken as "no". Errors (kind "usage"): no terminal, nothing typed, more than 1023 bytes, interrupted.
Result<std::string> ask_secret(std::string_view question);
// The same on a terminal that is open already, for tests.
Result<std::string> ask_secret_on(int terminal, std::string_view question);

}  // namespace cleanslate::controller
