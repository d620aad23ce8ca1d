#pragma once
// `become` and Ansible's variables about it: here it means root, by sudo, without a password in the file.

#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "base/yaml.hpp"

namespace cleanslate::inventory {

// Whether the variable is about becoming another user.
bool is_about_become(std::string_view name);

// Whether it is a password for that, whose value nobody looks at.
bool is_become_password(std::string_view name);

// What another one says: become root, or do not; nothing: it names what is done anyway (root, sudo). Whatever
// would change who reads and signals there in another way is refused (kind "inventory", with its place): to
// pass over it would look at hosts with other rights than its writer believes.
Result<std::optional<bool>> read_become(std::string_view file, const yaml::Node& key,
                                        const yaml::Node& value);

}  // namespace cleanslate::inventory
