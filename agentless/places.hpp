#pragma once
// The fan-out: which of the hosts under way are at work, and which only wait. A host that waits long for its
// connection or for its first looks, or for a time to come, gives its place to the next, so that dead hosts
// cost a sweep one deadline and not one each for as many places as they fill. A host that acts has a place
// for as long as it does. Pure: time is told.

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <optional>

#include "base/units.hpp"

namespace cleanslate::agentless {

class Places {
  public:
    using Time = std::chrono::steady_clock::time_point;
    // So many times the places may be begun on: with a place, or acted on and resting without one.
    static constexpr std::size_t most_engaged_each = 4;

    // One host under way, from begin() to end().
    class Host {
      public:
        bool has_place() const { return has_place_; }
        // It has had a place to act; it keeps every one but for a rest.
        bool acts() const { return acts_; }

      private:
        friend class Places;
        bool has_place_ = false, acts_ = false, is_waiting_ = false, is_silent_ = false, is_in_line_ = false;
        Time since_{};
        std::list<Host*>::iterator among_waiting_{}, in_line_{};
        std::function<void()> called_{};
    };

    // At most so many hosts at work, and so many under way at all. Both at least 1.
    Places(std::size_t at_work, std::size_t under_way);

    // How many more hosts may begin; `strictly`: not with the places of those that are silent.
    std::size_t room(bool strictly = false) const;
    void begin(Host& host);
    void end(Host& host);

    // Before an act: whether the host has a place, and from now on acts. If not, it stands in line, before
    // all that have not begun, and `called` is called once it has.
    bool take(Host& host, std::function<void()> called);
    // Out of the line.
    void give_up(Host& host);

    // It has asked its host something, or has its answer. Answers of the kind that all hosts give tell how
    // long a host usually takes.
    void waits(Host& host, Time now);
    void answered(Host& host, Time now, bool is_usual);
    // It does nothing before that time.
    void rests(Host& host, Time now, Time until);

    // Those that have waited for longer than patience(), and do not act, give their places away, and keep
    // their sessions.
    void release(Time now);
    // A second, and more where hosts usually take longer: where this machine or the way to all of them is
    // slow, more hosts at a time would only make it slower.
    Milliseconds patience() const;

    std::size_t at_work() const { return at_work_; }
    std::size_t under_way() const { return under_way_; }
    std::size_t silent() const { return silent_; }  // that release() took for such, and that still are
    bool has_line() const { return !line_.empty(); }

  private:
    void set(Host& host, bool has_place, bool acts);
    void serve_line();
    void stop_waiting(Host& host);

    const std::size_t most_at_work_, most_under_way_, most_engaged_;
    std::size_t at_work_ = 0, under_way_ = 0, engaged_ = 0, silent_ = 0;
    std::list<Host*> waiting_;             // with a place that they may lose, whoever waits longest first
    std::list<Host*> line_;                // for a place to act
    std::optional<Milliseconds> usual_{};  // a moving average
};

}  // namespace cleanslate::agentless
