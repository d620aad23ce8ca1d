#pragma once
// A command of the user's own on this machine, given a text and a limited time.

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/units.hpp"
#include "controller/options.hpp"

namespace cleanslate::controller {

struct ChildCommand {
    std::string command;           // for /bin/sh -c
    std::string input;             // its standard input; a command that does not read it is no error
    Environment environment;       // all of it
    int output = 2;                // where its standard output and error go
    Milliseconds timeout{60'000};  // then TERM to its process group
    Milliseconds grace{5'000};     // after TERM, then KILL
    int stop_fd = -1;              // once readable, it is ended as by the timeout; -1: nothing stops it
};

struct ChildEnd {
    std::optional<int> exit_status;  // absent: a signal ended it, or it did not end
    int signal = 0;                  // that ended it
    bool timed_out = false;
    bool stopped = false;
    bool succeeded() const { return exit_status == 0 && !timed_out && !stopped; }
};

// Runs it in a process group of its own, with no signal blocked or ignored and no descriptor but the three.
// Returns once the shell has ended: what it left running in the background is neither waited for nor ended.
// Never takes longer than timeout and grace and a second. The error, of kind "command", says why it could
// not be started.
Result<ChildEnd> run_child(const ChildCommand& command);

// "exit status 1", "signal 9 (Killed)", "not done after 60s", "interrupted"; of one that did not succeed.
std::string how_it_ended(const ChildEnd& end, Milliseconds timeout);

}  // namespace cleanslate::controller
