#pragma once
// group_vars and host_vars beside an inventory.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "inventory/draft.hpp"

namespace cleanslate::inventory {

// Reads what the folders' group_vars and host_vars say of the groups and hosts of the draft: NAME, NAME.yml,
// NAME.yaml or NAME.json, the first that is there, or all files of a folder NAME. Files of the same name in
// several folders add up; later folders win. Errors name the file.
Status read_vars_files(const std::vector<std::string>& folders, DraftBuilder& builder);

}  // namespace cleanslate::inventory
