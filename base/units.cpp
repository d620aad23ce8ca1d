#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/text.hpp"

namespace cleanslate {
namespace {

struct Unit {
    std::string_view name;
    std::int64_t factor;
};

constexpr std::array duration_units{Unit{"ms", 1}, Unit{"s", 1'000}, Unit{"m", 60'000}, Unit{"h", 3'600'000},
                                    Unit{"d", 86'400'000}};
constexpr std::array size_units{Unit{"MiB", 1}, Unit{"GiB", 1'024}};
constexpr std::int64_t max_duration_ms = 3'650LL * 86'400'000;
constexpr std::int64_t max_size_mib = 1LL << 40;

// `text` as a count of the smallest unit, or nothing where it is no integer with one of the units, or too
// large.
template <std::size_t N>
std::optional<std::int64_t> count_of(std::string_view text, const std::array<Unit, N>& units,
                                     std::int64_t max) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == std::string_view::npos) return std::nullopt;
    const auto number = parse_number(text.substr(0, digits));
    if (!number) return std::nullopt;
    for (const auto& unit : units) {
        if (text.substr(digits) != unit.name) continue;
        if (*number > static_cast<std::uint64_t>(max / unit.factor)) return std::nullopt;
        return static_cast<std::int64_t>(*number) * unit.factor;
    }
    return std::nullopt;
}

}  // namespace

Result<Milliseconds> parse_duration(std::string_view text) {
    if (const auto count = count_of(text, duration_units, max_duration_ms)) return Milliseconds(*count);
    return fail("usage", fmt::format("\"{}\" is not a duration", ellipsize(printable(text), 60)),
                "write an integer and a unit, ms, s, m, h or d, such as 500ms or 10s; at most 3650d");
}

Result<Mebibytes> parse_size(std::string_view text) {
    if (const auto count = count_of(text, size_units, max_size_mib)) return Mebibytes{*count};
    return fail("usage", fmt::format("\"{}\" is not a size", ellipsize(printable(text), 60)),
                "write an integer and a unit, MiB or GiB, such as 100MiB; at most 2^40 MiB");
}

std::string format_duration(Milliseconds duration) {
    const std::int64_t limit = std::numeric_limits<std::int64_t>::max() - 1'000;
    const std::int64_t ms = std::clamp<std::int64_t>(duration.count(), 0, limit);
    const std::int64_t hundredths = (ms + 5) / 10;
    if (hundredths < 100) return fmt::format("0.{:02} s", hundredths);
    const std::int64_t tenths = (ms + 50) / 100;
    if (tenths < 100) return fmt::format("{}.{} s", tenths / 10, tenths % 10);
    const std::int64_t seconds = (ms + 500) / 1'000;
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3'600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
    if (seconds < 86'400) return fmt::format("{}h{:02}m", seconds / 3'600, seconds / 60 % 60);
    return fmt::format("{}d{:02}h", seconds / 86'400, seconds / 3'600 % 24);
}

}  // namespace cleanslate
