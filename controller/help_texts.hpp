#pragma once
// The prose of --help and --version.

#include <string>
#include <string_view>

#include "controller/options.hpp"

namespace cleanslate::controller {

std::string_view program_description();
std::string_view program_footer();
std::string_view description_of(Command command);
std::string_view footer_of(Command command);  // has an example
std::string_view description_of(HistoryAction action);
std::string_view footer_of(HistoryAction action);  // has an example
std::string_view program_version();                // "0.1.0"
std::string version_text();                        // two lines, without the last line end

}  // namespace cleanslate::controller
