#include "agentless/ssh/channel_link.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agentless/ssh/lane.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// Whoever stopped to put bytes into it had at least so much unsent.
constexpr std::size_t much_unsent = 32u << 10;

}  // namespace

ChannelLink::ChannelLink(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
                         std::shared_ptr<Lane> lane, LIBSSH2_CHANNEL* channel)
    : Link(io, std::move(cancellation)), lane_(std::move(lane)), channel_(channel) {
    lane_->add(*this);
}

ChannelLink::~ChannelLink() { close(); }

ssize_t ChannelLink::take(void* bytes, std::size_t size) {
    if (closed_) return -ECONNABORTED;
    const std::size_t count = std::min(size, in_end_ - in_begin_);
    if (count == 0) return failed_ ? 0 : -EAGAIN;
    std::memcpy(bytes, in_.data() + in_begin_, count);
    in_begin_ += count;
    if (in_begin_ == in_end_) in_begin_ = in_end_ = 0;
    return static_cast<ssize_t>(count);
}

ssize_t ChannelLink::put(const void* bytes, std::size_t size) {
    if (closed_ || channel_ == nullptr) return -ECONNABORTED;
    if (unsent() + size > max_unsent) {
        failed_ = true;
        event().notify();
        return -ENOBUFS;
    }
    out_.append(static_cast<const char*>(bytes), size);
    return static_cast<ssize_t>(size);
}

void ChannelLink::flush() {
    const Lane::Reading reading(*lane_);
    const bool was_much = out_.size() >= much_unsent;
    if (!send()) return;
    if (was_much) event().notify();
    lane_->flush();
}

void ChannelLink::want_input() {
    const Lane::Reading reading(*lane_);
    if (!receive()) return;
    event().notify();
    lane_->flush();  // the window may have been opened again
}

void ChannelLink::pump(bool has_input) {
    const bool sent = send();
    const bool got = has_input && receive();
    if (sent || got) event().notify();
}

// What the window, and the jump host, take now. True where something went, or it failed.
bool ChannelLink::send() {
    if (channel_ == nullptr || failed_) return false;
    std::size_t sent = 0;
    while (sent < out_.size() && !lane_->is_full()) {
        const ssize_t count = libssh2_channel_write(channel_, out_.data() + sent, out_.size() - sent);
        if (count > 0) {
            sent += static_cast<std::size_t>(count);
            continue;
        }
        failed_ = count < 0 && count != LIBSSH2_ERROR_EAGAIN;
        break;
    }
    out_.erase(0, sent);
    return sent > 0 || failed_;
}

// True where something came, or it failed.
bool ChannelLink::receive() {
    if (channel_ == nullptr || failed_) return false;
    if (in_begin_ > 0) {
        std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
        in_end_ -= in_begin_;
        in_begin_ = 0;
    }
    const std::size_t before = in_end_;
    while (in_end_ < in_.size()) {
        const ssize_t count = libssh2_channel_read(channel_, in_.data() + in_end_, in_.size() - in_end_);
        if (count > 0) {
            in_end_ += static_cast<std::size_t>(count);
            received_ += static_cast<std::size_t>(count);
            continue;
        }
        failed_ = count != LIBSSH2_ERROR_EAGAIN && (count < 0 || libssh2_channel_eof(channel_) != 0);
        break;
    }
    return in_end_ > before || failed_;
}

int ChannelLink::descriptor() { return lane_->descriptor(); }

void ChannelLink::lose() {
    channel_ = nullptr;
    failed_ = true;
    event().notify();
}

void ChannelLink::close() {
    if (closed_) return;
    closed_ = true;
    lane_->remove(*this, std::exchange(channel_, nullptr));
}

}  // namespace cleanslate::agentless::ssh
