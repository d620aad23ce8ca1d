#include "controller/unblocked.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>

namespace cleanslate::controller {
namespace {

// After a write that took nothing: longer each time, since a reader may be fast or stopped.
constexpr std::chrono::milliseconds first_pause{1}, longest_pause{20};

// What a stream with room takes without waiting, where nothing better is to be had: PIPE_BUF of a pipe, less
// of a terminal.
std::size_t small_piece(bool terminal) { return terminal ? 256 : 4096; }

}  // namespace

Unblocked::Unblocked(int fd) : fd_(fd) {
    struct stat what {};
    if (::fstat(fd, &what) != 0) return;
    if (S_ISSOCK(what.st_mode)) {
        way_ = Way::socket;
        return;
    }
    const bool terminal = ::isatty(fd) == 1;
    if (!terminal && !S_ISFIFO(what.st_mode)) return;
    own_ = FileHandle(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                             O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (own_.valid())
        way_ = Way::non_blocking;
    else
        piece_ = small_piece(terminal);
}

ssize_t Unblocked::write(std::string_view text) {
    const std::size_t size = std::min(piece_, text.size());
    ssize_t taken = 0;
    do {
        taken = way_ == Way::socket ? ::send(fd(), text.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL)
                                    : ::write(fd(), text.data(), size);
    } while (taken < 0 && errno == EINTR);
    if (taken < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) taken = 0;
    if (taken != 0)
        pause_ = {};
    else
        pause_ = std::clamp(2 * pause_, first_pause, longest_pause);
    return taken;
}

bool Unblocked::wait(std::chrono::milliseconds time) {
    const auto slept = std::min(time, pause_);
    if (slept.count() > 0) std::this_thread::sleep_for(slept);
    time -= slept;
    pollfd room{fd(), POLLOUT, 0};
    return ::poll(&room, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace cleanslate::controller
