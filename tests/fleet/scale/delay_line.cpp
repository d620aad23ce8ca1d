#include "tests/fleet/scale/delay_line.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace cleanslate::simulated {

DelayLine::DelayLine(Loop& loop, Fd outer, Fd inner, Moment round_trip, std::function<void()> on_end)
    : loop_(loop),
      outer_(std::move(outer)),
      inner_(std::move(inner)),
      half_(round_trip / 2),
      on_end_(std::move(on_end)),
      inwards_{outer_.get(), inner_.get(), {}, Moment(0), Moment(0)},
      outwards_{inner_.get(), outer_.get(), {}, Moment(0), round_trip} {
    for (const int fd : {outer_.get(), inner_.get()})
        loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t events) { on_events(fd, events); });
}

DelayLine::~DelayLine() {
    loop_.cancel(timer_);
    for (const int fd : {outer_.get(), inner_.get()}) loop_.forget(fd);
}

void DelayLine::on_events(int fd, std::uint32_t events) {
    if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0)
        read(fd == inwards_.from ? inwards_ : outwards_);
    settle();
}

void DelayLine::read(Way& way) {
    std::array<char, 65536> buffer;
    while (!way.ended) {
        const ssize_t count = ::recv(way.from, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        way.ended = count <= 0;
        way.last_due = std::max(way.last_due, loop_.now() + half_ + std::exchange(way.extra, Moment(0)));
        way.chunks.push_back({way.last_due, std::string(buffer.data(), static_cast<std::size_t>(
                                                                           std::max<ssize_t>(count, 0)))});
    }
}

// What is due; the rest waits for its time or for room.
void DelayLine::deliver(Way& way) {
    while (!way.closed && !way.chunks.empty() && way.chunks.front().due <= loop_.now()) {
        auto& bytes = way.chunks.front().bytes;
        if (bytes.empty()) return close(way);
        const ssize_t count = ::send(way.to, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (count < 0) return close(way);
        bytes.erase(0, static_cast<std::size_t>(count));
        if (bytes.empty()) way.chunks.pop_front();
    }
}

void DelayLine::close(Way& way) {
    way.closed = way.ended = true;
    way.chunks.clear();
    ::shutdown(way.to, SHUT_WR);
}

// Both ways, then what to wait for next.
void DelayLine::settle() {
    loop_.cancel(std::exchange(timer_, 0));
    deliver(inwards_);
    deliver(outwards_);
    if (inwards_.closed && outwards_.closed) return on_end_();
    const auto now = loop_.now();
    std::optional<Moment> next;
    for (const auto* way : {&inwards_, &outwards_}) {
        const bool late = !way->chunks.empty() && way->chunks.front().due <= now;  // waits for room
        const auto& back = way == &inwards_ ? outwards_ : inwards_;
        loop_.change(way->to, (back.ended ? 0U : static_cast<std::uint32_t>(EPOLLIN)) |
                                  (late ? static_cast<std::uint32_t>(EPOLLOUT) : 0U));
        if (!late && !way->chunks.empty())
            next = std::min(next.value_or(Moment::max()), way->chunks.front().due);
    }
    if (next)
        timer_ = loop_.at(*next, [this] {
            timer_ = 0;
            settle();
        });
}

}  // namespace cleanslate::simulated
