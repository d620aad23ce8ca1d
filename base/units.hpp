#pragma once
// Durations and sizes with their units in the type, and the only place that reads and prints them.

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate {

using Milliseconds = std::chrono::milliseconds;

struct Mebibytes {
    std::int64_t count = 0;
    friend auto operator<=>(const Mebibytes&, const Mebibytes&) = default;
    Mebibytes& operator+=(Mebibytes other) {
        count += other.count;
        return *this;
    }
    friend Mebibytes operator+(Mebibytes a, Mebibytes b) { return {a.count + b.count}; }
    friend Mebibytes operator-(Mebibytes a, Mebibytes b) { return {a.count - b.count}; }
};

// "500ms", "2s", "10m", "12h", "7d". An integer and a unit; a bare number is refused. Range: 0 to 10 years.
Result<Milliseconds> parse_duration(std::string_view text);

// "100MiB", "1GiB". An integer and a unit; a bare number is refused. Range: 0 to 2^40 MiB.
Result<Mebibytes> parse_size(std::string_view text);

// Shortest form for people: "0.12 s", "14 s", "3m05s", "2h10m", "3d04h".
std::string format_duration(Milliseconds duration);

}  // namespace cleanslate
