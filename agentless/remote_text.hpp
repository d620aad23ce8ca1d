#pragma once
// What is put into the scripts' first lines, and values that several of them answer with. Private to
// remote*.cpp.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "agentless/evidence.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

inline bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Letters, digits and these.
inline bool is_made_of(std::string_view text, std::string_view others) {
    return std::ranges::all_of(text, [&](char c) { return is_letter_or_digit(c) || others.contains(c); });
}

// Text that is put into an assignment of the script: nothing but what needs no quotes gets there.
inline std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (is_made_of({&c, 1}, "-.,_")) out += c;
    return out;
}

inline std::optional<ProcessKey> read_key(std::string_view pid, std::string_view start) {
    const auto pid_number = parse_number(pid);
    const auto start_number = parse_number(start);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Pid>::max());
    if (!pid_number || *pid_number == 0 || *pid_number > most || !start_number) return std::nullopt;
    return ProcessKey{static_cast<Pid>(*pid_number), *start_number};
}

}  // namespace cleanslate::agentless
