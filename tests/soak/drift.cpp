#include "tests/soak/drift.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

namespace cleanslate::soak {
namespace {

std::size_t entries_of(const char* folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
    return count;
}

using Reading = std::function<double(const Sample&)>;

double middle(std::vector<Sample>::const_iterator from, std::vector<Sample>::const_iterator to,
              const Reading& reading) {
    std::vector<double> values;
    for (; from != to; ++from) values.push_back(reading(*from));
    const std::size_t half = (values.size() - 1) / 2;  // of two the less: one busy moment is no drift
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(half));
    return values[half];
}

}  // namespace

Sample look() {
    std::size_t size = 0;
    std::size_t resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    // The folder that is being read has a descriptor of its own.
    return {resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024,
            entries_of("/proc/self/fd") - 1,
            entries_of("/proc/self/task"),
            {}};
}

std::vector<std::string> drift(const std::vector<Sample>& samples) {
    if (samples.size() < enough_to_see_drift)
        return {fmt::format("{} sweeps are too few to see a drift", samples.size())};
    const auto quarter = static_cast<std::ptrdiff_t>(samples.size() / 4);
    const auto begin = samples.begin();
    std::vector<std::string> found;
    const auto compare = [&](const char* what, const Reading& reading, double factor, double more) {
        const double before = middle(begin + quarter, begin + 2 * quarter, reading);
        const double after = middle(samples.end() - quarter, samples.end(), reading);
        if (after > before * factor + more)
            found.push_back(fmt::format("{}: {} became {}", what, before, after));
    };
    compare(
        "resident memory, KiB", [](const Sample& s) { return double(s.resident_kib); }, 1.05, 4096);
    compare(
        "descriptors", [](const Sample& s) { return double(s.descriptors); }, 1, 0);
    compare(
        "threads", [](const Sample& s) { return double(s.threads); }, 1, 0);
    compare(
        "time a sweep, ms", [](const Sample& s) { return double(s.took.count()); }, 1.25, 1000);
    return found;
}

}  // namespace cleanslate::soak
