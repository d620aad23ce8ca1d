#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace cleanslate {
namespace {

struct CodePoint {
    char32_t value = 0;
    std::size_t length = 0;  // in bytes; 0: not valid UTF-8 here
};

// The code point at the start of `text`, which is not empty. Overlong forms, surrogates and values above
// U+10FFFF are not valid.
CodePoint decode(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || text.size() < length) return {};
    char32_t value = lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return {};
        value = (value << 6) | (byte(i) & 0x3FU);
    }
    const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
    if (overlong || (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) return {};
    return {value, length};
}

struct Range {
    char32_t first, last;
};

// What changes a terminal's state, the order of what is read, or shows nothing at all.
constexpr Range unprintable[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0x061C, 0x061C}, {0x200B, 0x200B},     {0x200E, 0x200F},
    {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB},     {0xFFFE, 0xFFFF},
    {0xE0000, 0xE007F}, {0x1FFFE, 0x1FFFF}, {0xFDD0, 0xFDEF}, {0x10FFFE, 0x10FFFF},
};

bool is_printable(char32_t value) {
    if (value >= 0x20 && value < 0x7F) return true;
    return std::ranges::none_of(unprintable, [&](Range r) { return value >= r.first && value <= r.last; });
}

}  // namespace

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
    return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return text.starts_with(prefix); });
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t value = 0;
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::size_t> invalid_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const CodePoint point = decode(text.substr(i));
        if (point.length == 0) return i;
        i += point.length;
    }
    return std::nullopt;
}

std::string printable(std::string_view bytes) {
    const auto plain = [](char c) { return c >= 0x20 && c < 0x7F; };  // nearly all that a host prints
    const auto same = static_cast<std::size_t>(std::ranges::find_if_not(bytes, plain) - bytes.begin());
    std::string out(bytes.substr(0, same));
    bytes.remove_prefix(same);
    if (!bytes.empty()) out.reserve(same + bytes.size());
    while (!bytes.empty()) {
        const CodePoint point = decode(bytes);
        const std::size_t length = std::max<std::size_t>(point.length, 1);
        if (point.length > 0 && is_printable(point.value)) {
            out += bytes.substr(0, length);
        } else {
            for (const char c : bytes.substr(0, length)) {
                out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
            }
        }
        bytes.remove_prefix(length);
    }
    return out;
}

std::string ellipsize(std::string_view text, std::size_t columns) {
    if (text.size() <= columns) return std::string(text);  // no more code points than bytes
    constexpr std::string_view dots = "...";
    const std::size_t room = columns > dots.size() ? columns - dots.size() : 0;
    std::size_t seen = 0, offset = 0, cut = 0;  // `cut`: the offset behind the first `room` code points
    while (offset < text.size()) {
        if (seen == room) cut = offset;
        if (seen == columns) return std::string(text.substr(0, cut)).append(dots.substr(0, columns));
        offset += std::max<std::size_t>(decode(text.substr(offset)).length, 1);
        ++seen;
    }
    return std::string(text);
}

std::string rfc3339(std::int64_t unix_seconds) {
    using namespace std::chrono;
    constexpr sys_seconds first = sys_days(year(0) / 1 / 1);
    constexpr sys_seconds last = sys_days(year(9999) / 12 / 31) + hours(24) - seconds(1);
    const std::int64_t within = std::clamp<std::int64_t>(unix_seconds, first.time_since_epoch().count(),
                                                         last.time_since_epoch().count());
    const sys_seconds time{seconds(within)};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(time - day);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()), unsigned(date.month()),
                       unsigned(date.day()), clock.hours().count(), clock.minutes().count(),
                       clock.seconds().count());
}

}  // namespace cleanslate
