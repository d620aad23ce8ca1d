#include "agentless/ssh/socket_link.hpp"

#include <netinet/in.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace cleanslate::agentless::ssh {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// Keeps what a round trip needs, and no script's or survey's worth of memory.
void empty(std::string& buffer) {
    constexpr std::size_t worth_keeping = 4096;
    if (buffer.capacity() > worth_keeping)
        buffer = std::string();
    else
        buffer.clear();
}

}  // namespace

SocketLink::SocketLink(asio::io_context& io, std::shared_ptr<Cancellation> cancellation)
    : Link(io, std::move(cancellation)), socket_(io) {}

error_code SocketLink::start_connect(const Protocol::endpoint& endpoint, std::function<void(error_code)> done,
                                     const std::optional<Protocol::endpoint>& from) {
    error_code error;
    socket_.open(endpoint.protocol(), error);
    if (!error) socket_.non_blocking(true, error);
    if (!error && from) {
        // The port is chosen as late as without bind(): else each takes one of all that there are.
        const int yes = 1;
        (void)::setsockopt(socket_.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
        socket_.bind(*from, error);
    }
    if (error) {
        close();
        return error;
    }
    socket_.async_connect(endpoint, [self = shared_from_this(), done = std::move(done)](error_code answer) {
        if (self->closed_) return;
        error_code ignored;  // a Unix socket has no TCP options
        if (answer) {
            self->close();
        } else {
            self->socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
        }
        done(answer);
    });
    return {};
}

Awaitable<error_code> SocketLink::connect(const Protocol::endpoint& endpoint, Clock::time_point deadline) {
    const auto outcome = std::make_shared<std::optional<error_code>>();
    const error_code at_once = start_connect(endpoint, [self = weak_from_this(), outcome](error_code answer) {
        *outcome = answer;
        if (const auto link = self.lock()) link->event().notify();
    });
    if (at_once) co_return at_once;
    while (!*outcome) {
        const Event::Woken woken = co_await event().wait(deadline);
        if (woken == Event::Woken::notified) continue;
        close();
        const auto why =
            woken == Event::Woken::cancelled ? asio::error::operation_aborted : asio::error::timed_out;
        co_return error_code(why);
    }
    co_return **outcome;
}

error_code SocketLink::assign(int family, int descriptor) {
    error_code error;
    socket_.assign(Protocol(family, 0), descriptor, error);
    if (!error) socket_.non_blocking(true, error);
    return error;
}

ssize_t SocketLink::take(void* bytes, std::size_t size) {
    if (closed_) return -ECONNABORTED;
    const std::size_t count = std::min(size, in_.size() - in_begin_);
    if (count == 0) return failed_ ? 0 : -EAGAIN;
    std::memcpy(bytes, in_.data() + in_begin_, count);
    in_begin_ += count;
    taken_ += count;
    if (in_begin_ == in_.size()) {
        empty(in_);
        in_begin_ = 0;
    }
    return static_cast<ssize_t>(count);
}

ssize_t SocketLink::put(const void* bytes, std::size_t size) {
    if (closed_) return -ECONNABORTED;
    if (unsent() + size > max_unsent) {
        fail();
        return -ENOBUFS;
    }
    out_.append(static_cast<const char*>(bytes), size);
    return static_cast<ssize_t>(size);
}

void SocketLink::fail() {
    failed_ = true;
    event().notify();
}

void SocketLink::flush() {
    if (writing_ || closed_ || failed_ || out_.empty()) return;
    sending_.swap(out_);  // it was empty
    error_code error;
    sent_ = socket_.write_some(asio::buffer(sending_), error);  // nearly always takes all of it
    if (error && error != asio::error::would_block && error != asio::error::try_again) return fail();
    send_rest();
}

void SocketLink::send_rest() {
    if (sent_ == sending_.size()) {
        empty(sending_);
        sent_ = 0;
        flush();
        return event().notify();
    }
    writing_ = true;
    socket_.async_write_some(asio::buffer(sending_.data() + sent_, sending_.size() - sent_),
                             [self = shared_from_this()](error_code error, std::size_t count) {
                                 self->writing_ = false;
                                 self->sent_ += count;
                                 if (self->closed_) return;
                                 if (error) return self->fail();
                                 self->send_rest();
                             });
}

void SocketLink::want_input() {
    // libssh2 may ask for more and have left some of what there is, with data of channels that are no more:
    // then whoever waits tries again, for as long as anything moves.
    const std::size_t moved = received_ + taken_;
    if (unread() > 0 && std::exchange(moved_, moved) != moved) event().notify();
    if (reading_ || closed_ || failed_ || in_.size() - in_begin_ >= max_unread) return;
    reading_ = true;
    // Only what came takes memory: thousands of hosts wait at a time, and nearly all of them for nothing yet.
    socket_.async_wait(Protocol::socket::wait_read, [self = shared_from_this()](error_code error) {
        self->reading_ = false;
        if (self->closed_) return;
        if (error) return self->fail();
        self->read();
    });
}

void SocketLink::read() {
    static thread_local std::array<char, max_unread> buffer;
    error_code error;
    const std::size_t count = socket_.read_some(asio::buffer(buffer), error);
    if (error == asio::error::would_block || error == asio::error::try_again) return want_input();
    in_.erase(0, in_begin_);
    in_begin_ = 0;
    in_.append(buffer.data(), count);
    received_ += count;
    if (error) return fail();
    event().notify();
}

void SocketLink::close() {
    closed_ = true;
    error_code ignored;
    if (socket_.is_open()) socket_.close(ignored);
}

}  // namespace cleanslate::agentless::ssh
