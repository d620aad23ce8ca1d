#pragma once
// Values of the survey's records. Private to its reader.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "agentless/evidence.hpp"
#include "agentless/records.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

inline std::optional<int> as_number(std::string_view text, int most) {
    const auto number = parse_number(text);
    if (!number || *number > static_cast<std::uint64_t>(most)) return std::nullopt;
    return static_cast<int>(*number);
}

inline std::optional<Pid> as_pid(std::string_view text) {
    const auto number = as_number(text, std::numeric_limits<Pid>::max());
    return number == 0 ? std::nullopt : number;
}

inline std::optional<std::uint32_t> as_uid(std::string_view text) {
    const auto number = parse_number(text);
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

// Values were checked to be escaped text when the frame was read.
inline std::string text_of(std::string_view value) { return unescape(value).value_or(""); }

// 1 to 64 of a-z, 0-9, _ and .: fields of nvidia-smi, files of /proc/PID.
inline bool is_field_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string_view::npos;
}

}  // namespace cleanslate::agentless
