#include "agentless/ssh/ssh_config_match.hpp"

#include "base/text.hpp"

namespace cleanslate::agentless::ssh {

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return small;
}

bool is_wildcard(std::string_view pattern) { return pattern.find_first_of("*?") != std::string_view::npos; }

bool matches_pattern(std::string_view text, std::string_view pattern) {
    std::size_t t = 0, p = 0;
    // Where to go back to: behind the last `*`, which then takes one byte more.
    std::size_t star = std::string_view::npos, taken = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = ++p;
            taken = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

bool matches_pattern_list(std::string_view text, std::string_view list) {
    bool found = false;
    for (std::string_view pattern : split(list, ',')) {
        const bool negated = pattern.starts_with('!');
        if (!matches_pattern(text, negated ? pattern.substr(1) : pattern)) continue;
        if (negated) return false;
        found = true;
    }
    return found;
}

}  // namespace cleanslate::agentless::ssh
