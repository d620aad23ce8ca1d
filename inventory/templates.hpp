#pragma once
// The few templates that an inventory alone can fill in.

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::inventory {

// Whether Ansible would evaluate the text.
bool has_template(std::string_view text);

// The text with {{ inventory_hostname }} and {{ inventory_hostname_short }} (up to the first dot) of the host
// `name` in their places. Any other template is an error of kind "inventory", without a place.
Result<std::string> fill_in(std::string_view text, std::string_view name);

}  // namespace cleanslate::inventory
