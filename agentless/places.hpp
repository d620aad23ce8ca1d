#pragma once
// The fan-out: which of the hosts under way are at work, and which only wait. A host that waits long for an
// answer, or for a time to come, gives its place to the next, so that dead hosts cost a sweep one deadline
// and not one each for as many places as they fill. Pure: time is told.

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>

#include "base/units.hpp"

namespace cleanslate::agentless {

class Places {
  public:
    using Time = std::chrono::steady_clock::time_point;

    // One host under way, from begin() to end().
    class Host {
      private:
        friend class Places;
        bool has_place_ = false, is_waiting_ = false;
        Time since_{};
        std::list<Host*>::iterator place_in_line_{};
    };

    // At most so many hosts at work, and so many under way at all. Both at least 1.
    Places(std::size_t at_work, std::size_t under_way);

    // How many more hosts may begin.
    std::size_t room() const;
    void begin(Host& host);
    void end(Host& host);

    // It has asked its host something, or has its answer. Answers of the kind that all hosts give tell how
    // long a host usually takes.
    void waits(Host& host, Time now);
    void answered(Host& host, Time now, bool is_usual);
    // It does nothing before that time.
    void rests(Host& host, Time now, Time until);

    // Those that have waited for longer than patience() give their places away, and keep their sessions. A
    // host does not take its place back: what is left for it to do is short beside its wait.
    void release(Time now);
    // A second, and more where hosts usually take longer: where this machine or the way to all of them is
    // slow, more hosts at a time would only make it slower.
    Milliseconds patience() const;

    std::size_t at_work() const { return at_work_; }
    std::size_t under_way() const { return under_way_; }

  private:
    void give_away(Host& host);
    void stop_waiting(Host& host);

    const std::size_t most_at_work_, most_under_way_;
    std::size_t at_work_ = 0, under_way_ = 0;
    std::list<Host*> waiting_;             // with a place, whoever waits longest first
    std::optional<Milliseconds> usual_{};  // a moving average
};

}  // namespace cleanslate::agentless
