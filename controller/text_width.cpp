#include "controller/text_width.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace cleanslate::controller {
namespace {

struct Range {
    char32_t first, last;
};

// Unicode 15's East Asian Width W and F, neighbours joined where nothing else lies between.
constexpr Range wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
    {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18D08},
    {0x1AFF0, 0x1B2FB}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
    {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440},
    {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A},
    {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
    {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7F0},
    {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAF8}, {0x20000, 0x3FFFD},
};

// The usual marks that stand above or below what is before them, and what joins or chooses a form.
constexpr Range combining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200C, 0x200D}, {0x20D0, 0x20F0},
    {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};

template <std::size_t size>
bool is_in(const Range (&ranges)[size], char32_t value) {
    const auto after = std::ranges::upper_bound(ranges, value, {}, &Range::first);
    return after != std::begin(ranges) && value <= std::prev(after)->last;
}

std::size_t length_of(unsigned char lead) { return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

// The first code point of a text that is not empty, and its bytes.
struct Point {
    std::string_view bytes;
    std::size_t columns = 1;
};

Point first_of(std::string_view utf8) {
    const auto lead = static_cast<unsigned char>(utf8.front());
    const std::size_t length = length_of(lead);
    if (length == 1 || length > utf8.size()) return {utf8.substr(0, 1), 1};
    char32_t value = lead & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(utf8[i]);
        if ((byte & 0xC0) != 0x80) return {utf8.substr(0, 1), 1};
        value = value << 6 | (byte & 0x3Fu);
    }
    return {utf8.substr(0, length), is_in(combining, value) ? 0u : is_in(wide, value) ? 2u : 1u};
}

}  // namespace

std::size_t width_of(std::string_view utf8) {
    std::size_t columns = 0;
    while (!utf8.empty()) {
        const Point point = first_of(utf8);
        columns += point.columns;
        utf8.remove_prefix(point.bytes.size());
    }
    return columns;
}

std::size_t most_columns_of(std::string_view utf8) {
    std::size_t columns = 0;
    for (const char c : utf8) {
        const auto byte = static_cast<unsigned char>(c);
        columns += byte >= 0xE0 ? 2 : (byte & 0xC0) != 0x80 ? 1 : 0;
    }
    return columns;
}

std::string shortened(std::string_view utf8, std::size_t columns) {
    constexpr std::string_view dots = "...";
    std::size_t used = 0, bytes = 0, kept = 0;  // kept: bytes that leave room for the dots
    while (bytes < utf8.size()) {
        const Point point = first_of(utf8.substr(bytes));
        used += point.columns;
        if (used > columns) return std::string(utf8.substr(0, kept)) + std::string(dots.substr(0, columns));
        bytes += point.bytes.size();
        if (used + dots.size() <= columns) kept = bytes;
    }
    return std::string(utf8);
}

}  // namespace cleanslate::controller
