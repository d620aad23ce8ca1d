#include "controller/signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace cleanslate::controller {
namespace {

// What was ignored when this program was started stays ignored: nohup's SIGHUP, and the SIGINT of what a
// script runs in the background. (A blocked signal would be told all the same.)
bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t stop_set() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        if (!is_ignored(signal)) sigaddset(&set, signal);
    return set;
}

void raise_event(int fd) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
}

}  // namespace

void ignore_write_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

StopSignals::StopSignals() {
    const sigset_t set = stop_set();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    signals_ = FileHandle(::signalfd(-1, &set, SFD_CLOEXEC));
    came_ = FileHandle(::eventfd(0, EFD_CLOEXEC));
    end_ = FileHandle(::eventfd(0, EFD_CLOEXEC));
    thread_ = std::thread([this] { watch(); });
}

StopSignals::~StopSignals() {
    raise_event(end_.get());
    thread_.join();
}

void StopSignals::set_handler(Handler handler) {
    const std::lock_guard lock(mutex_);
    handler_ = std::move(handler);
    for (int earlier = 1; handler_ && earlier <= count_; ++earlier) handler_(first_, earlier);
}

void StopSignals::watch() {
    for (;;) {
        pollfd waits[2] = {{signals_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
        if (::poll(waits, 2, -1) < 0 && errno != EINTR) return;
        if (waits[1].revents != 0) return;
        if ((waits[0].revents & POLLIN) == 0) continue;
        signalfd_siginfo info{};
        if (::read(signals_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
        const int signal = static_cast<int>(info.ssi_signo);
        const std::lock_guard lock(mutex_);
        int none = 0;
        first_.compare_exchange_strong(none, signal);
        raise_event(came_.get());
        ++count_;
        if (handler_) handler_(signal, count_);
    }
}

}  // namespace cleanslate::controller
