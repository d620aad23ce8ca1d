#include "agentless/ssh/proxy_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>

#include "agentless/child_process.hpp"
#include "agentless/ssh/socket_link.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr std::size_t most_words = 4096;  // of standard error, the last ones
constexpr std::size_t shown_words = 300;  // of them
constexpr auto time_for_words = 500ms;

// A socket at whose other end a program is.
class ProxyLink final : public SocketLink {
  public:
    ProxyLink(asio::io_context& io, const std::shared_ptr<Cancellation>& cancellation,
              std::unique_ptr<ChildProcess> child)
        : SocketLink(io, cancellation),
          child_(std::move(child)),
          told_(io, cancellation),
          errors_(io, child_->err.release()),
          ended_(io) {}

    void listen() {
        read_errors();
        error_code no_descriptor;
        ended_.assign(fcntl(child_->ended.get(), F_DUPFD_CLOEXEC, 3), no_descriptor);
        has_ended_ = static_cast<bool>(no_descriptor);  // then nobody waits for it
        if (no_descriptor) return;
        const auto self = std::static_pointer_cast<ProxyLink>(shared_from_this());
        ended_.async_wait(asio::posix::stream_descriptor::wait_read, [self](error_code error) {
            self->has_ended_ = !error;
            self->told_.notify();
        });
    }

    // The last lines it said, on one line. Where it is gone, all that it said.
    Awaitable<std::string> last_words() {
        const auto until = Clock::now() + time_for_words;
        while (failed() && !(silent_ && has_ended_))
            if (co_await told_.wait(until) != Event::Woken::notified) break;
        std::string text = std::string(trim(words_));
        if (text.size() > shown_words) text.erase(0, text.size() - shown_words);
        std::string line;
        for (const std::string_view part : split(text, '\n'))
            if (!trim(part).empty()) line += (line.empty() ? "" : "; ") + printable(trim(part));
        co_return line;
    }

    // Absent while it still runs.
    std::optional<ChildEnd> end() { return child_ ? child_->try_reap() : std::nullopt; }

    void close() override {
        error_code ignored;
        errors_.close(ignored);
        ended_.close(ignored);
        child_.reset();
        SocketLink::close();
    }

  private:
    void read_errors() {
        const auto self = std::static_pointer_cast<ProxyLink>(shared_from_this());
        errors_.async_read_some(asio::buffer(buffer_), [self](error_code error, std::size_t count) {
            self->words_.append(self->buffer_.data(), count);
            if (self->words_.size() > most_words) self->words_.erase(0, self->words_.size() - most_words);
            self->silent_ = static_cast<bool>(error);
            if (!error) return self->read_errors();
            self->told_.notify();
        });
    }

    std::unique_ptr<ChildProcess> child_;
    Event told_;  // that it ended, or has closed its standard error
    asio::posix::stream_descriptor errors_, ended_;
    std::array<char, 1024> buffer_;
    std::string words_;
    bool silent_ = false, has_ended_ = false;
};

std::unexpected<Error> not_started(std::string why) {
    return std::unexpected(Error{"connect_failed", "connect", "ProxyCommand: " + std::move(why), ""});
}

std::string how_it_ended(const std::optional<ChildEnd>& end) {
    if (!end) return "closed the connection";
    if (!end->exit_signal.empty()) return "was killed by " + end->exit_signal;
    return fmt::format("ended with status {}", end->exit_status.value_or(0));
}

}  // namespace

Result<std::shared_ptr<Link>> start_proxy_command(asio::io_context& io,
                                                  std::shared_ptr<Cancellation> cancellation,
                                                  const std::string& command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return not_started(std::string("socketpair: ") + std::strerror(errno));
    Descriptor ours(ends[0]), theirs(ends[1]);
    auto child = ChildProcess::start_on("exec " + command, std::move(theirs));
    if (!child) return not_started(child.error().message);
    const auto link = std::make_shared<ProxyLink>(io, cancellation, std::move(*child));
    if (const error_code error = link->assign(AF_UNIX, ours.get())) return not_started(error.message());
    ours.release();
    link->listen();
    return link;
}

Awaitable<Error> explain_proxy_failure(std::shared_ptr<Link> link, Error error) {
    const auto proxy = std::dynamic_pointer_cast<ProxyLink>(link);
    if (!proxy || error.kind == "cancelled") co_return error;
    const std::string words = co_await proxy->last_words();
    const std::string said = words.empty() ? "" : ": " + words;
    if (proxy->received() > 0) {
        if (!words.empty()) error.message += " (ProxyCommand said" + said + ")";
        co_return error;
    }
    if (proxy->failed()) {
        co_return Error{"connect_failed", "connect", "ProxyCommand " + how_it_ended(proxy->end()) + said,
                        "try the command by hand"};
    }
    co_return Error{"connect_timeout", "connect", "ProxyCommand gave no connection in time" + said,
                    "try the command by hand: does it reach the host?"};
}

}  // namespace cleanslate::agentless::ssh
