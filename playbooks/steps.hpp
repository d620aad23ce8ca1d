#pragma once
// The steps of a playbook.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/yaml.hpp"
#include "playbooks/playbook.hpp"
#include "playbooks/reader.hpp"

namespace cleanslate::playbooks {

// Reads `steps:`. Errors have kind "playbook" and begin with file:line:column.
Result<std::vector<Step>> read_steps(const Reader& in, const yaml::Node& node);

// Reads `match:` of a signal or stop step.
Result<Match> read_match(const Reader& in, const yaml::Node& node);

// One step of each kind; the mapping has the key of its kind.
Result<Action> read_signal(const Reader& in, const yaml::Node& step);
Result<Action> read_stop(const Reader& in, const yaml::Node& step);
Result<Action> read_run(const Reader& in, const yaml::Node& step);
Result<Action> read_verify(const Reader& in, const yaml::Node& step);
Result<Action> read_reset(const Reader& in, const yaml::Node& step);
Result<Action> read_reboot(const Reader& in, const yaml::Node& step);
Result<Action> read_clean_shm(const Reader& in, const yaml::Node& step);

// As check_keys, and says of a key that is only in the wrong place where it belongs.
Status check_step_keys(const Reader& in, const yaml::Node& step, std::string_view what,
                       const std::vector<std::string>& known);

// What a step does, in a few words, for one without a name: "TERM holders and their launchers".
std::string describe(const Action& action);

}  // namespace cleanslate::playbooks
