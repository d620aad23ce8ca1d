#pragma once
// The passwords of a sweep: --ask-pass, of the logins, and --ask-become-pass, of sudo.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agentless/fleet.hpp"
#include "base/result.hpp"
#include "controller/options.hpp"
#include "controller/password.hpp"

namespace cleanslate::controller {

using AskSecret = std::function<Result<std::string>(const SecretQuestion& question)>;

// Asks for those that are to be asked for, each once, and puts them into `reach`. An error of kind "usage"
// where no host would need one, or where it could not be had: nothing was contacted. With both flags an empty
// password of sudo is the one of the logins.
Status fill_passwords(const Options& options, const std::vector<agentless::HostTask>& tasks,
                      agentless::Reach& reach, const AskSecret& ask);
// On the terminal.
Status fill_passwords(const Options& options, const std::vector<agentless::HostTask>& tasks,
                      agentless::Reach& reach);

// A passphrase, on the terminal. Absent: nobody is there, or they typed nothing.
std::optional<std::string> ask_passphrase(const std::string& question);

}  // namespace cleanslate::controller
