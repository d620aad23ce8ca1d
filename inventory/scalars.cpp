#include "inventory/scalars.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool only(std::string_view text, std::string_view letters) {
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

std::string_view without_sign(std::string_view text) {
    if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
    return text;
}

bool is_boolean(std::string_view text) {
    constexpr std::array<std::string_view, 18> words{"yes",  "Yes",  "YES",  "no",    "No",    "NO",
                                                     "true", "True", "TRUE", "false", "False", "FALSE",
                                                     "on",   "On",   "ON",   "off",   "Off",   "OFF"};
    return text.size() <= 5 && std::ranges::find(words, text) != words.end();
}

// ":59" and ":5", one or more times.
bool is_sixties(std::string_view text) {
    if (text.empty()) return false;
    for (const std::string_view part : split(text.substr(1), ':')) {
        const bool one = part.size() == 1 && is_digit(part[0]);
        const bool two = part.size() == 2 && part[0] >= '0' && part[0] <= '5' && is_digit(part[1]);
        if (!one && !two) return false;
    }
    return text[0] == ':';
}

bool is_integer(std::string_view text) {
    text = without_sign(text);
    if (text.empty() || !is_digit(text[0])) return false;
    if (text == "0") return true;
    if (text.starts_with("0b")) return only(text.substr(2), "01_");
    if (text.starts_with("0x")) return only(text.substr(2), "0123456789abcdefABCDEF_");
    if (text[0] == '0') return only(text.substr(1), "01234567_");
    const auto colon = std::min(text.find(':'), text.size());
    return only(text.substr(0, colon), "0123456789_") &&
           (colon == text.size() || is_sixties(text.substr(colon)));
}

// "e-5": the sign is not optional.
bool is_exponent(std::string_view text) {
    if (text.empty()) return true;
    return text.size() > 2 && (text[0] == 'e' || text[0] == 'E') && (text[1] == '+' || text[1] == '-') &&
           only(text.substr(2), "0123456789");
}

bool is_real(std::string_view text) {
    const bool has_sign = !text.empty() && (text[0] == '+' || text[0] == '-');
    const std::string_view plain = without_sign(text);
    const auto point = plain.find('.');
    if (point == std::string_view::npos) return false;
    const std::string_view before = plain.substr(0, point), after = plain.substr(point + 1);
    if (before.empty()) {
        if (after == "inf" || after == "Inf" || after == "INF") return true;
        if (has_sign || after.empty()) return false;
        if (after == "nan" || after == "NaN" || after == "NAN") return true;
        if (!is_digit(after[0])) return false;
    }
    if (!before.empty() && !is_digit(before[0])) return false;
    const auto colon = std::min(before.find(':'), before.size());
    if (!before.empty() && !only(before.substr(0, colon), "0123456789_")) return false;
    const auto digits = std::min(after.find_first_not_of("0123456789_"), after.size());
    if (colon < before.size()) return is_sixties(before.substr(colon)) && digits == after.size();
    return is_exponent(after.substr(digits));
}

// 2026-11-30, and the same with a time behind it.
bool is_date(std::string_view text) {
    if (text.size() < 8 || !only(text.substr(0, 4), "0123456789") || text[4] != '-') return false;
    const auto parts = split(text.substr(5), '-');
    if (parts.size() < 2 || !only(parts[0], "0123456789") || parts[0].size() > 2) return false;
    const std::string_view rest = text.substr(6 + parts[0].size());
    const auto day = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (day == rest.size()) return day == 2 && parts[0].size() == 2;
    if (day == 0 || day > 2) return false;
    return rest.find(':') != std::string_view::npos &&
           rest.find_first_not_of("0123456789:.TtZ+- \t") == std::string_view::npos;
}

}  // namespace

Scalar kind_of(const yaml::Node& node) {
    if (node.is_null()) return Scalar::null;
    const std::string_view text = node.text();
    if (node.quoted || !node.tag().empty() || text.empty()) return Scalar::text;
    constexpr std::string_view openers = "+-.0123456789yYnNtTfFoO";
    if (openers.find(text[0]) == std::string_view::npos) return Scalar::text;
    if (is_boolean(text)) return Scalar::boolean;
    if (text[0] > '9') return Scalar::text;
    if (is_integer(text)) return Scalar::integer;
    if (is_real(text)) return Scalar::real;
    return is_date(text) ? Scalar::date : Scalar::text;
}

std::string_view describe(Scalar kind) {
    switch (kind) {
        case Scalar::boolean:
            return "a boolean";
        case Scalar::integer:
        case Scalar::real:
            return "a number";
        case Scalar::date:
            return "a date";
        case Scalar::null:
            return "nothing";
        case Scalar::text:
            break;
    }
    return "a text";
}

std::optional<std::int64_t> integer_of(std::string_view text) {
    const bool negative = text.starts_with('-');
    std::string digits;
    for (const char c : without_sign(text))
        if (c != '_') digits += c;
    std::int64_t value = 0;
    const auto read = [&value](std::string_view part, int base) {
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, base);
        return error == std::errc() && end == part.data() + part.size();
    };
    const std::string_view all = digits;
    if (all.find(':') != std::string_view::npos) {
        std::int64_t sum = 0;
        for (const std::string_view part : split(all, ':')) {
            if (!read(part, 10) || sum > INT64_MAX / 60 - 60 || value > INT64_MAX / 120) return std::nullopt;
            sum = sum * 60 + value;
        }
        return negative ? -sum : sum;
    }
    const bool fine = all.starts_with("0b")             ? read(all.substr(2), 2)
                      : all.starts_with("0x")           ? read(all.substr(2), 16)
                      : all.size() > 1 && all[0] == '0' ? read(all.substr(1), 8)
                                                        : read(all, 10);
    if (!fine) return std::nullopt;
    return negative ? -value : value;
}

std::optional<std::int64_t> number_in(const yaml::Node& node) {
    if (!node.is_scalar()) return std::nullopt;
    const Scalar kind = kind_of(node);
    if (kind == Scalar::integer) return integer_of(node.text());
    if (kind != Scalar::text || !(node.tag().empty() || node.tag() == "tag:yaml.org,2002:str"))
        return std::nullopt;
    std::string_view text = trim(node.text());
    const bool negative = text.starts_with('-');
    text = without_sign(text);
    const auto value = parse_number(text);
    if (!value || *value > INT64_MAX) return std::nullopt;
    const auto number = static_cast<std::int64_t>(*value);
    return negative ? -number : number;
}

std::optional<bool> truth_in(const yaml::Node& node) {
    constexpr std::array<std::string_view, 6> yes{"true", "yes", "on", "y", "1", "t"};
    constexpr std::array<std::string_view, 6> no{"false", "no", "off", "n", "0", "f"};
    if (!node.is_scalar() || !(node.tag().empty() || node.tag() == "tag:yaml.org,2002:str"))
        return std::nullopt;
    std::string word(trim(node.text()));
    for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (std::ranges::find(yes, word) != yes.end()) return true;
    if (std::ranges::find(no, word) != no.end()) return false;
    return std::nullopt;
}

}  // namespace cleanslate::inventory
