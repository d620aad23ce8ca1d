#include "inventory/glob.hpp"

#include <cstddef>

namespace cleanslate::inventory {
namespace {

constexpr auto npos = std::string_view::npos;

// Matches `count` tokens with the whole text. The last star takes one byte more each time that what is behind
// it does not fit.
template <class IsStar, class Takes>
bool match(std::size_t count, std::string_view text, IsStar&& is_star, Takes&& takes) {
    std::size_t p = 0, t = 0;
    std::size_t star = npos, retry = 0;  // the last star, and where the text behind it is tried next
    while (t < text.size()) {
        if (p < count && is_star(p)) {
            star = p++;
            retry = t;
        } else if (p < count && takes(p, text[t])) {
            ++p;
            ++t;
        } else if (star != npos) {
            p = star + 1;
            t = ++retry;
        } else {
            return false;
        }
    }
    while (p < count && is_star(p)) ++p;
    return p == count;
}

// What stands between the brackets.
std::bitset<256> class_of(std::string_view inside) {
    const bool negated = inside.starts_with('!');
    if (negated) inside.remove_prefix(1);
    std::bitset<256> bytes;
    for (std::size_t i = 0; i < inside.size(); ++i) {
        const auto first = static_cast<unsigned char>(inside[i]);
        const bool range = i + 2 < inside.size() && inside[i + 1] == '-';
        const auto last = range ? static_cast<unsigned char>(inside[i + 2]) : first;
        for (unsigned c = first; c <= last; ++c) bytes.set(c);
        if (range) i += 2;
    }
    return negated ? ~bytes : bytes;
}

}  // namespace

bool glob(std::string_view pattern, std::string_view text) {
    return match(
        pattern.size(), text, [&](std::size_t p) { return pattern[p] == '*'; },
        [&](std::size_t p, char c) { return pattern[p] == '?' || pattern[p] == c; });
}

std::optional<ClassGlob> ClassGlob::parse(std::string_view pattern) {
    ClassGlob glob;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        Token& token = glob.tokens_.emplace_back();
        if (pattern[i] == '*') {
            token.star = true;
        } else if (pattern[i] == '?') {
            token.bytes.set();
        } else if (pattern[i] != '[') {
            token.bytes.set(static_cast<unsigned char>(pattern[i]));
        } else {
            // A ] that comes first belongs to the class.
            const std::size_t first = i + 1 + (pattern.substr(i + 1).starts_with('!') ? 1 : 0);
            const auto close = first < pattern.size() ? pattern.find(']', first + 1) : npos;
            if (close == npos) return std::nullopt;
            token.bytes = class_of(pattern.substr(i + 1, close - i - 1));
            i = close;
        }
    }
    return glob;
}

bool ClassGlob::matches(std::string_view text) const {
    return match(
        tokens_.size(), text, [&](std::size_t p) { return tokens_[p].star; },
        [&](std::size_t p, char c) { return tokens_[p].bytes[static_cast<unsigned char>(c)]; });
}

}  // namespace cleanslate::inventory
