#include "controller/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "controller/files.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t hold = 64 * 1024;
constexpr int look_every_ms = 100;

// So much is taken without waiting by a stream that poll() calls writable: PIPE_BUF by a pipe, less by a
// terminal.
std::size_t piece_for(int fd) {
    struct stat what {};
    if (::fstat(fd, &what) == 0 && S_ISREG(what.st_mode)) return hold;
    return ::isatty(fd) == 1 ? 512 : 4096;
}

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
    std::string_view text = held_;
    const std::size_t piece = piece_for(fd_);
    moved_ = std::chrono::steady_clock::now();
    while (!text.empty() && lost_.empty() && wait_for_room()) {
        const ssize_t written = ::write(fd_, text.data(), std::min(piece, text.size()));
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
            moved_ = std::chrono::steady_clock::now();
        } else if (written == 0) {
            lose("output error");
        } else if (errno != EINTR && errno != EAGAIN) {
            lose(reason(errno));
        }
    }
    held_.clear();
}

// A stream that is gone counts as one with room: write() says why.
bool Output::wait_for_room() {
    for (;;) {
        pollfd room{fd_, POLLOUT, 0};
        if (::poll(&room, 1, look_every_ms) > 0) return true;
        const auto still = std::chrono::steady_clock::now() - moved_;
        if (give_up_ && give_up_(std::chrono::duration_cast<Milliseconds>(still))) {
            lose("nobody reads it");
            return false;
        }
    }
}

void Output::lose(std::string why) { lost_ = std::move(why); }

}  // namespace cleanslate::controller
