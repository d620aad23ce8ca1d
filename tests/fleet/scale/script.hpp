#pragma once
// What cleanslate sends to `/bin/sh -s`, told apart. docs/remote-protocol.md has the scripts.

#include <map>
#include <string>
#include <string_view>

namespace cleanslate::simulated {

enum class ScriptKind { survey, signal, take_lock, release_lock, command, reset, shm, reboot, unknown };

const char* name_of(ScriptKind kind);

struct Script {
    ScriptKind kind = ScriptKind::unknown;
    std::map<std::string, std::string, std::less<>> values;  // the assignments in front, without quotes
    std::string command;                                     // of ScriptKind::command: the operator's lines

    // The assignment's value; empty where there is none.
    const std::string& value(std::string_view name) const;
    // As a number; `otherwise` where it is none.
    long number(std::string_view name, long otherwise = 0) const;
};

// Whether the last line, the one that calls the functions before it, is there. A script that was cut runs
// nothing.
bool is_whole(std::string_view text);

// Told by the assignments in front and the last line, so that the bodies may change. `unknown` for what is
// not whole, has no nonce, or fits none.
Script recognise(std::string_view text);

}  // namespace cleanslate::simulated
