#include "controller/jitter.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <random>

namespace cleanslate::controller {

Milliseconds random_wait(Milliseconds most) {
    std::random_device source;
    std::uniform_int_distribution<Milliseconds::rep> among(0, std::max<Milliseconds::rep>(0, most.count()));
    return Milliseconds{among(source)};
}

bool wait_unless_stopped(Milliseconds time, int stop_fd) {
    using Clock = std::chrono::steady_clock;
    for (const auto until = Clock::now() + time;;) {
        const auto left = std::chrono::ceil<Milliseconds>(until - Clock::now()).count();
        pollfd stop{stop_fd, POLLIN, 0};
        const int patience =
            static_cast<int>(std::clamp<Milliseconds::rep>(left, 0, std::numeric_limits<int>::max()));
        const int ready = ::poll(&stop, 1, patience);
        if (ready > 0) return false;
        if (ready < 0 && errno != EINTR) return true;
        if (ready == 0 && Clock::now() >= until) return true;
    }
}

}  // namespace cleanslate::controller
