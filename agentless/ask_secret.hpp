#pragma once
// Asking a person for a secret, where somebody is there to be asked.

#include <functional>
#include <optional>
#include <string>

namespace cleanslate::agentless {

// The question, without a colon. Absent: nobody is there, or they would not say.
using AskSecret = std::function<std::optional<std::string>(const std::string& question)>;

}  // namespace cleanslate::agentless
