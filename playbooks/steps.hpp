#pragma once
// The steps of a playbook.

#include <vector>

#include "base/result.hpp"
#include "base/yaml.hpp"
#include "playbooks/playbook.hpp"
#include "playbooks/reader.hpp"

namespace cleanslate::playbooks {

// Reads `steps:`. Errors have kind "playbook" and begin with file:line:column.
Result<std::vector<Step>> read_steps(const Reader& in, const yaml::Node& node);

// Reads `match:` of a signal step.
Result<Match> read_match(const Reader& in, const yaml::Node& node);

// What a step does, in a few words, for one without a name: "TERM holders and launchers".
std::string describe(const Action& action);

}  // namespace cleanslate::playbooks
