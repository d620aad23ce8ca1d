#pragma once
// A long way between a connection and who serves it.

#include <deque>
#include <functional>
#include <string>

#include "tests/fleet/scale/loop.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

// Carries the bytes of two stream sockets to each other: each byte comes D/2 late, in order, at any rate; so
// does the end. D is a round trip. On loopback the TCP handshake takes no time: the first byte that goes to
// the outer socket comes a whole D later still, which stands for it.
class DelayLine {
  public:
    // `on_end` is told once, when nothing can come any more on either side, and may delete the line.
    DelayLine(Loop& loop, Fd outer, Fd inner, Moment round_trip, std::function<void()> on_end);
    ~DelayLine();
    DelayLine(const DelayLine&) = delete;

  private:
    struct Chunk {
        Moment due;
        std::string bytes;  // empty: the end
    };
    struct Way {  // from one socket to the other
        int from, to;
        std::deque<Chunk> chunks;
        Moment last_due{0};
        Moment extra{0};  // of the first byte
        bool ended = false, closed = false;
    };
    void on_events(int fd, std::uint32_t events);
    void read(Way& way);
    void deliver(Way& way);
    void close(Way& way);
    void settle();

    Loop& loop_;
    Fd outer_, inner_;
    Moment half_;
    std::function<void()> on_end_;
    Way inwards_, outwards_;
    Loop::Timer timer_ = 0;
};

}  // namespace cleanslate::simulated
