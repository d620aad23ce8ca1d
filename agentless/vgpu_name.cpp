#include "agentless/vgpu_name.hpp"

#include <algorithm>
#include <array>

namespace cleanslate::agentless {

bool is_vgpu_name(std::string_view name) {
    const auto dash = name.rfind('-');
    if (dash == std::string_view::npos || dash == 0) return false;
    const auto type = name.substr(dash + 1);
    const auto digits = std::min(type.find_first_not_of("0123456789"), type.size());
    if (digits == 0 || digits > 3 || digits == type.size()) return false;
    if (std::string_view("QCBA").find(type[digits]) == std::string_view::npos) return false;
    // 4: more frame rate. The others tell media engines and graphics of a MIG slice.
    constexpr std::array<std::string_view, 6> ends{"", "4", "ME", "NOME", "MEALL", "GFX"};
    return std::ranges::find(ends, type.substr(digits + 1)) != ends.end();
}

}  // namespace cleanslate::agentless
