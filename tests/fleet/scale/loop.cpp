#include "tests/fleet/scale/loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace cleanslate::simulated {

Loop::Loop(std::int64_t began_ns) : epoll_(::epoll_create1(EPOLL_CLOEXEC)), began_ns_(began_ns) {
    need(static_cast<bool>(epoll_), "epoll_create1");
    wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    need(static_cast<bool>(wake_), "eventfd");
    watch(wake_.get(), EPOLLIN, [](std::uint32_t) {});
}

Moment Loop::now() const {
    return std::chrono::duration_cast<Moment>(std::chrono::nanoseconds(now_ns() - began_ns_));
}

void Loop::watch(int fd, std::uint32_t events, OnEvents on_events) {
    watched_[fd] = std::make_shared<Watched>(Watched{std::move(on_events), events});
    epoll_event event{.events = events, .data = {.fd = fd}};
    need(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

void Loop::change(int fd, std::uint32_t events) {
    auto& watched = *watched_.at(fd);
    if (watched.events == events) return;
    const int how = watched.events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    watched.events = events;
    epoll_event event{.events = events, .data = {.fd = fd}};
    need(::epoll_ctl(epoll_.get(), how, fd, &event) == 0, "epoll_ctl");
}

void Loop::forget(int fd) {
    if (watched_.erase(fd) > 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

Loop::Timer Loop::at(Moment when, OnTime on_time) {
    const Timer timer = ++last_timer_;
    timers_[timer] = due_.emplace(when, std::pair{timer, std::move(on_time)});
    return timer;
}

void Loop::cancel(Timer timer) {
    const auto found = timers_.find(timer);
    if (found == timers_.end()) return;
    due_.erase(found->second);
    timers_.erase(found);
}

void Loop::stop() {
    stopped_ = true;
    ::eventfd_write(wake_.get(), 1);
}

void Loop::run_due() {
    const auto moment = now();
    while (!due_.empty() && due_.begin()->first <= moment) {
        auto [timer, on_time] = std::move(due_.begin()->second);
        due_.erase(due_.begin());
        timers_.erase(timer);
        on_time();
    }
}

void Loop::run() {
    std::array<epoll_event, 256> events;
    while (!stopped_) {
        int wait_ms = -1;
        if (!due_.empty())
            wait_ms = static_cast<int>(std::clamp<long>((due_.begin()->first - now()).count(), 0, 60'000));
        const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms);
        need(count >= 0 || errno == EINTR, "epoll_wait");
        for (int i = 0; i < count; ++i) {
            const auto& event = events[static_cast<std::size_t>(i)];
            const auto found = watched_.find(event.data.fd);
            if (found == watched_.end()) continue;
            const auto keep = found->second;
            keep->on_events(event.events);
        }
        run_due();
    }
}

}  // namespace cleanslate::simulated
