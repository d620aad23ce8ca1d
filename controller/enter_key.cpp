#include "controller/enter_key.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <utility>

#include "controller/terminal.hpp"

namespace cleanslate::controller {
namespace {

constexpr int look_again_ms = 300;  // whether we are in the foreground, whether a line is gone

// A read that finds us in the background after all (Ctrl-Z came in between) is then an error, and no stop.
void block_stop_for_reading() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTTIN);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

EnterKey::EnterKey(int fd, std::function<void()> pressed)
    : fd_(fd), pressed_(std::move(pressed)), end_(::eventfd(0, EFD_CLOEXEC)) {
    if (!end_.valid() || ::isatty(fd_) != 1) return;
    try {
        thread_ = std::thread([this] { watch(); });
    } catch (const std::system_error&) {  // no more threads: then without
    }
}

EnterKey::~EnterKey() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(end_.get(), &one, sizeof one);
    if (thread_.joinable()) thread_.join();
}

bool EnterKey::is_ended(int patience_ms) const {
    pollfd end{end_.get(), POLLIN, 0};
    return ::poll(&end, 1, patience_ms) > 0;
}

void EnterKey::watch() {
    block_stop_for_reading();
    while (!is_ended(0)) {
        if (!is_in_foreground(fd_)) {
            if (is_ended(look_again_ms)) return;
            continue;
        }
        // Not for ever: in the background, what others type is none of our business.
        pollfd waits[2] = {{fd_, POLLIN, 0}, {end_.get(), POLLIN, 0}};
        if (::poll(waits, 2, look_again_ms) < 0 && errno != EINTR) return;
        if (waits[1].revents != 0 || (waits[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return;
        if ((waits[0].revents & POLLIN) == 0 || !is_in_foreground(fd_)) continue;
        if (take_enter())
            pressed_();
        else if (is_ended(look_again_ms))
            return;
    }
}

bool EnterKey::take_enter() {
    termios modes{};
    // A pager at our standard output has made it deliver keys: they are its own.
    if (::tcgetattr(fd_, &modes) != 0 || (modes.c_lflag & ICANON) == 0) return false;
    int waiting = 0;  // bytes of the lines that are complete
    if (::ioctl(fd_, FIONREAD, &waiting) != 0 || waiting != 1) return false;
    char byte = 0;
    return ::read(fd_, &byte, 1) == 1 && (byte == '\n' || byte == '\r');
}

}  // namespace cleanslate::controller
