#pragma once
// How a login becomes root: --become, and sudo's password where --ask-become-pass says that there is one.

#include <functional>
#include <string_view>
#include <vector>

#include "agentless/fleet.hpp"
#include "base/result.hpp"
#include "controller/options.hpp"

namespace cleanslate::controller {

using AskSecret = std::function<Result<std::string>(std::string_view question)>;

// Asks for the password where it is to be asked for, once, and puts it into `reach`. An error of kind "usage"
// where no host would need it, or where it could not be had: nothing was contacted.
Status fill_become_password(const Options& options, const std::vector<agentless::HostTask>& tasks,
                            agentless::Reach& reach, const AskSecret& ask);
// On the terminal.
Status fill_become_password(const Options& options, const std::vector<agentless::HostTask>& tasks,
                            agentless::Reach& reach);

// Takes the password out of memory again when it goes.
class PasswordScope {
  public:
    explicit PasswordScope(agentless::Reach& reach) : reach_(reach) {}
    ~PasswordScope();
    PasswordScope(const PasswordScope&) = delete;
    PasswordScope& operator=(const PasswordScope&) = delete;

  private:
    agentless::Reach& reach_;
};

}  // namespace cleanslate::controller
