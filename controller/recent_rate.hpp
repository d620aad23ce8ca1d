#pragma once
// How fast something goes lately, and how long the rest takes at that rate. No clock of its own.

#include <cstddef>
#include <deque>
#include <optional>

#include "base/units.hpp"

namespace cleanslate::controller {

class RecentRate {
  public:
    // `done` so many at `at`, both counted from the beginning and never falling.
    void note(Milliseconds at, std::size_t done);
    // A second, over the last ten seconds. Absent while there is no base for it: less than two seconds, or
    // fewer than five done in them.
    std::optional<double> per_second() const;
    // Of `rest`, at that rate. Absent where that is.
    std::optional<Milliseconds> time_for(std::size_t rest) const;

  private:
    struct Sample {
        Milliseconds at;
        std::size_t done;
    };
    std::deque<Sample> samples_ = {{Milliseconds{0}, 0}};  // the last of those older than the window first
};

}  // namespace cleanslate::controller
