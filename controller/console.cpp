#include "controller/console.hpp"

#include <fmt/core.h>

#include <system_error>
#include <utility>

namespace cleanslate::controller {
namespace {

constexpr std::chrono::milliseconds look_every{100};

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
    const std::lock_guard lock(mutex_);
    if (gone_) return;
    if (waiting_.size() + under_way_ + text.size() > capacity) {
        ++left_out_;
        return;
    }
    say_what_is_left_out();
    waiting_ += text;
    if (!thread_.joinable()) start();
    news_.notify_all();
}

void Console::say_what_is_left_out() {
    if (left_out_ > 0)
        waiting_ += fmt::format("({} lines are left out here: nobody read them in time)\n",
                                std::exchange(left_out_, 0));
}

// Where there are no more threads, what can be written at once is, and the rest is lost.
void Console::start() {
    try {
        thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
        (void)stream_.write(std::exchange(waiting_, {}));
    }
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
        if (waiting_.empty()) say_what_is_left_out();
    }
}

// Until it is written, the stream is gone, or the end has come and the stream takes nothing.
void Console::write_out(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = stream_.wait(look_every) ? stream_.write(text) : 0;
        const std::lock_guard lock(mutex_);
        if (written < 0) gone_ = true;
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
            under_way_ = text.size();
            written_ += static_cast<std::size_t>(written);
        }
        if (written != 0) progress_.notify_all();
        if (gone_ || (ending_ && written == 0)) return;
    }
}

}  // namespace cleanslate::controller
