#pragma once
// What a process that sweeps again and again may not do: grow, keep descriptors or threads, become slower.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace cleanslate::soak {

struct Sample {
    std::size_t resident_kib = 0;
    std::size_t descriptors = 0;
    std::size_t threads = 0;
    std::chrono::milliseconds took{0};
};

// Of this process, between two sweeps. `took` is the caller's.
Sample look();

inline constexpr std::size_t enough_to_see_drift = 8;

// What drifted between the second quarter of the samples and the last one, a line each; empty: nothing. The
// first quarter warms up. Memory: 5 % and 4 MiB more; time: 25 % and 1 s more; descriptors and threads: any
// more. Fewer than `enough_to_see_drift` samples show nothing, and that is said.
std::vector<std::string> drift(const std::vector<Sample>& samples);

}  // namespace cleanslate::soak
