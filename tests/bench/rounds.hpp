#pragma once
// What a benchmark measures of its own process, and how it prints a row.

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::bench {

// CPU time of this process so far: user and system.
inline double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// From /proc/self/status, in MB (10^6 bytes); 0 where it is not there. "VmRSS": resident now; "VmHWM": the
// most since forget_peak().
inline double resident_mb(std::string_view name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name)) return std::stod(line.substr(name.size() + 1)) * 1024 / 1e6;
    return 0;
}
inline void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// "FIGURE  MIDDLE s (LEAST to GREATEST), bar BAR s: met", and more behind it. True: met, or no bar (0).
inline bool print_row(std::string_view figure, std::vector<double> seconds, double bar,
                      std::string_view more) {
    std::ranges::sort(seconds);
    const double middle = seconds[seconds.size() / 2];
    const bool met = bar == 0 || middle <= bar;
    const std::string judged =
        bar == 0 ? "" : fmt::format(", bar {:.2f} s: {}", bar, met ? "met" : "NOT MET");
    fmt::print("  {:<46} {:7.3f} s  ({:.3f} to {:.3f}){}{}\n", figure, middle, seconds.front(),
               seconds.back(), judged, more);
    std::fflush(stdout);
    return met;
}

}  // namespace cleanslate::bench
