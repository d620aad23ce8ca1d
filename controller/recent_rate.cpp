#include "controller/recent_rate.hpp"

namespace cleanslate::controller {
namespace {

constexpr Milliseconds window{10'000};
constexpr Milliseconds least_time{2'000};
constexpr std::size_t least_done = 5;

}  // namespace

void RecentRate::note(Milliseconds at, std::size_t done) {
    samples_.push_back({at, done});
    while (samples_.size() > 2 && samples_[1].at <= at - window) samples_.pop_front();
}

std::optional<double> RecentRate::per_second() const {
    const Milliseconds time = samples_.back().at - samples_.front().at;
    const std::size_t done = samples_.back().done - samples_.front().done;
    if (time < least_time || done < least_done) return std::nullopt;
    return 1000.0 * static_cast<double>(done) / static_cast<double>(time.count());
}

std::optional<Milliseconds> RecentRate::time_for(std::size_t rest) const {
    const auto rate = per_second();
    if (!rate) return std::nullopt;
    return Milliseconds{static_cast<Milliseconds::rep>(1000.0 * static_cast<double>(rest) / *rate)};
}

}  // namespace cleanslate::controller
