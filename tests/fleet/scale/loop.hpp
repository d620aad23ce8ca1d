#pragma once
// One thread's loop: descriptors that have something, and what is due.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

#include "tests/fleet/scale/model.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

class Loop {
  public:
    using OnEvents = std::function<void(std::uint32_t)>;  // EPOLLIN, ...
    using OnTime = std::function<void()>;
    using Timer = std::uint64_t;  // 0: none

    explicit Loop(std::int64_t began_ns);
    Loop(const Loop&) = delete;

    // Moments count from `began_ns` (now_ns()), so that all loops of a fleet agree.
    Moment now() const;

    // A handler may forget any descriptor, its own too. Forget one before it is closed.
    void watch(int fd, std::uint32_t events, OnEvents on_events);
    // 0: nothing at all of it, not even that the other side is gone.
    void change(int fd, std::uint32_t events);
    void forget(int fd);

    Timer at(Moment when, OnTime on_time);
    void cancel(Timer timer);

    // Until `stop` was called, from any thread.
    void run();
    void stop();

  private:
    struct Watched {
        OnEvents on_events;
        std::uint32_t events = 0;
    };
    void run_due();

    Fd epoll_;
    std::int64_t began_ns_;
    std::atomic<bool> stopped_{false};
    Fd wake_;
    std::unordered_map<int, std::shared_ptr<Watched>> watched_;
    std::multimap<Moment, std::pair<Timer, OnTime>> due_;
    std::unordered_map<Timer, std::multimap<Moment, std::pair<Timer, OnTime>>::iterator> timers_;
    Timer last_timer_ = 0;
};

}  // namespace cleanslate::simulated
