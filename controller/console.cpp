#include "controller/console.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace cleanslate::controller {
namespace {

// Whatever poll() calls writable takes so much without waiting: PIPE_BUF is 4096, and a terminal's room may
// be less.
constexpr std::size_t piece = 512;
constexpr int look_every_ms = 100;

}  // namespace

Console::~Console() {
    flush();
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    news_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Console::write(std::string_view text) {
    if (text.empty()) return;
    {
        const std::lock_guard lock(mutex_);
        if (gone_) return;
        if (waiting_.size() + under_way_ + text.size() > capacity) {
            ++left_out_;
            return;
        }
        if (left_out_ > 0)
            waiting_ += fmt::format("({} lines are left out here: nobody read them in time)\n",
                                    std::exchange(left_out_, 0));
        waiting_ += text;
        if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    }
    news_.notify_all();
}

std::size_t Console::unwritten() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size() + under_way_;
}

void Console::flush() {
    std::unique_lock lock(mutex_);
    while (!gone_ && waiting_.size() + under_way_ > 0) {
        const std::size_t before = written_;
        if (before == given_up_at_) return;
        const auto moved = [&] { return gone_ || written_ != before; };
        if (!progress_.wait_for(lock, patience, moved)) given_up_at_ = before;
    }
}

void Console::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        news_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        const std::string text = std::exchange(waiting_, {});
        under_way_ = text.size();
        lock.unlock();
        write_out(text);
        lock.lock();
        under_way_ = 0;
        if (ending_ || gone_) return;
    }
}

// Until it is written, the stream is gone, or the end has come and the stream takes nothing.
void Console::write_out(std::string_view text) {
    while (!text.empty()) {
        pollfd room{fd_, POLLOUT, 0};
        const int ready = ::poll(&room, 1, look_every_ms);
        ssize_t written = 0;
        if (ready > 0) written = ::write(fd_, text.data(), std::min(piece, text.size()));
        const bool failed = written < 0 && errno != EINTR && errno != EAGAIN;
        const std::lock_guard lock(mutex_);
        if (failed) gone_ = true;
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
            under_way_ = text.size();
            written_ += static_cast<std::size_t>(written);
        }
        if (failed || written > 0) progress_.notify_all();
        if (failed || (ending_ && written <= 0)) return;
    }
}

}  // namespace cleanslate::controller
