#pragma once
// An operator's own command on a host: wrapped so that its end is proven in-band and its time is bounded
// there too.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace cleanslate::agentless {

// Standard input for /bin/sh -s: runs `command` in a subshell without standard input, ends it after
// `timeout`, and prints "end NONCE STATUS" last. The command is the operator's text, unquoted: whatever sh
// makes of it. The values of `environment` are data, whatever is in them; its names are plain ones.
using Environment = std::vector<std::pair<std::string, std::string>>;
std::string command_script(std::string_view command, Milliseconds timeout, std::string_view nonce,
                           const Environment& environment = {});

struct CommandOutput {
    std::string out;                 // without the end record
    std::optional<int> exit_status;  // of the command; absent: no end record, so it did not come to its end
};
CommandOutput read_command(std::string out, std::string_view nonce);

}  // namespace cleanslate::agentless
