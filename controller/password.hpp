#pragma once
// A question whose answer is not shown: a password, read from the terminal once.

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace cleanslate::controller {

struct SecretQuestion {
    std::string text;              // "Password of sudo on 3 hosts: "
    std::string about;             // what errors begin with: "--ask-become-pass"
    std::string without_terminal;  // the remedy where nobody can be asked
    std::string when_empty;        // the remedy where nothing was typed
    bool may_be_empty = false;
};

// Asks on the controlling terminal. Call it before any thread is started: while it waits, SIGINT, SIGTERM,
// SIGHUP, SIGQUIT and SIGTSTP are its own, so that the terminal is as it was whatever ends it; each of them
// is taken as "no". Errors (kind "usage"): no terminal, nothing typed, more than 1023 bytes; (kind
// "interrupted"): one of those signals.
Result<std::string> ask_secret(const SecretQuestion& question);
// The same on a terminal that is open already, for tests.
Result<std::string> ask_secret_on(int terminal, const SecretQuestion& question);

}  // namespace cleanslate::controller
