#pragma once
// The passwords of a sweep: --ask-pass, of the logins, and --ask-become-pass, of sudo.

#include <functional>
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

// Reads keys, ssh's configuration and known hosts, and asks for passphrases (agentless::prepare()). An
// interrupt at one of those questions ends all of it: an error of kind "interrupted".
Status prepare_reach(agentless::Reach& reach, const std::vector<agentless::HostTask>& tasks,
                     const AskSecret& ask);
// On the terminal.
Status prepare_reach(agentless::Reach& reach, const std::vector<agentless::HostTask>& tasks);

}  // namespace cleanslate::controller
