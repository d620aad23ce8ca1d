#include "tests/fleet/scale/kinds.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace cleanslate::simulated {

namespace {

constexpr const char* names[] = {"healthy",    "dirty",     "stubborn",   "sick",    "black_hole",
                                 "refused",    "no_banner", "hang_login", "deny",    "hang_exec",
                                 "cut_survey", "no_end",    "slow",       "garbage", "lost_mid_kill"};

// splitmix64
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_;
};

}  // namespace

const char* name_of(Kind kind) { return names[static_cast<std::size_t>(kind)]; }

std::optional<Kind> find_kind(std::string_view name) {
    const auto* const found = std::find(std::begin(names) + 1, std::end(names), name);
    if (found == std::end(names)) return std::nullopt;
    return static_cast<Kind>(found - std::begin(names));
}

std::vector<Kind> choose_kinds(std::size_t hosts, const std::vector<Share>& shares, std::uint64_t seed) {
    std::vector<std::size_t> order(hosts);
    std::iota(order.begin(), order.end(), 0U);
    Random random(seed);
    for (std::size_t left = hosts; left > 1; --left) std::swap(order[left - 1], order[random.next() % left]);
    std::vector<Kind> kinds(hosts, Kind::healthy);
    std::size_t at = 0;
    for (const auto& [kind, percent] : shares) {
        const auto count = static_cast<std::size_t>(std::llround(static_cast<double>(hosts) * percent / 100));
        for (std::size_t i = 0; i < count && at < hosts; ++i) kinds[order[at++]] = kind;
    }
    return kinds;
}

}  // namespace cleanslate::simulated
