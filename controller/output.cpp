#include "controller/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "controller/files.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t hold = 64 * 1024;
constexpr std::chrono::milliseconds look_every{100};

}  // namespace

void occupy_closed_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free descriptor is this one; it can be read, so that each write to it fails.
        if (::open("/dev/null", O_RDONLY) < 0) return;
    }
}

void Output::write(std::string_view text) {
    if (!lost_.empty()) return;
    held_ += text;
    if (held_.size() >= hold) drain();
}

Status Output::finish() {
    drain();
    if (lost_.empty()) return {};
    return fail("write", "the report could not be written: " + lost_);
}

void Output::drain() {
    if (held_.empty() || !lost_.empty()) return;
    if (!stream_) stream_.emplace(fd_);
    std::string_view text = held_;
    for (auto moved = std::chrono::steady_clock::now(); !text.empty() && lost_.empty();) {
        const ssize_t written = stream_->write(text);
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
            moved = std::chrono::steady_clock::now();
        } else if (written < 0) {
            lose(reason(errno));
        } else if (!stream_->wait(look_every)) {
            const auto still = std::chrono::steady_clock::now() - moved;
            if (give_up_ && give_up_(std::chrono::duration_cast<Milliseconds>(still)))
                lose("nobody reads it");
        }
    }
    held_.clear();
}

void Output::lose(std::string why) { lost_ = std::move(why); }

}  // namespace cleanslate::controller
