#include "agentless/local_transport.hpp"

#include <fcntl.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <csignal>

#include "agentless/child_process.hpp"
#include "agentless/event.hpp"
#include "agentless/gated_input.hpp"
#include "agentless/run_errors.hpp"

namespace cleanslate::agentless {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// One run: a child and the three pumps that move its streams. The pumps share ownership, also of the script,
// since a handler may still be on its way when the run has ended.
class LocalRun : public std::enable_shared_from_this<LocalRun> {
  public:
    LocalRun(asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
             std::unique_ptr<ChildProcess> child, Script script, std::size_t max_bytes)
        : event_(io, std::move(cancellation)),
          child_(std::move(child)),
          script_(std::move(script)),
          input_(script_, event_.waker()),
          max_bytes_(max_bytes),
          in_(io, child_->in.release()),
          ended_(io, fcntl(child_->ended.get(), F_DUPFD_CLOEXEC, 3)),
          out_{asio::posix::stream_descriptor(io, child_->out.release()), {}, output_.out, false},
          err_{asio::posix::stream_descriptor(io, child_->err.release()), {}, output_.err, false} {}

    void start() {
        move_input();
        read(out_);
        read(err_);
        ended_.async_wait(asio::posix::stream_descriptor::wait_read,
                          [self = shared_from_this()](error_code error) {
                              if (!error) self->has_ended_ = true;
                              self->event_.notify();
                          });
    }

    Awaitable<Result<RunOutput>> finish(Limits limits) {
        while (!(out_.eof && err_.eof && has_ended_)) {
            const Event::Woken woken = co_await event_.wait(limits.deadline);
            if (woken == Event::Woken::cancelled) co_return cut(cancelled());
            if (woken == Event::Woken::deadline) co_return cut(timed_out());
            move_input();
            if (out_.text.size() + err_.text.size() > max_bytes_) co_return cut(output_limit(max_bytes_));
        }
        const std::optional<ChildEnd> end = child_->try_reap();
        close();
        if (!end) co_return std::unexpected(connection_lost("the command was reaped by somebody else"));
        output_.exit_status = end->exit_status;
        output_.exit_signal = end->exit_signal;
        co_return std::move(output_);
    }

    // Cancels what the pumps wait for; they let go of this object then.
    void close() {
        error_code ignored;
        in_.close(ignored);
        out_.pipe.close(ignored);
        err_.pipe.close(ignored);
        ended_.close(ignored);
    }

  private:
    struct Stream {
        asio::posix::stream_descriptor pipe;
        std::array<char, 16384> buffer;
        std::string& text;
        bool eof;
    };

    std::unexpected<Error> cut(Error why) {
        close();
        child_.reset();  // kills the group and reaps
        return std::unexpected(std::move(why));
    }

    void read(Stream& stream) {
        stream.pipe.async_read_some(asio::buffer(stream.buffer), [self = shared_from_this(), &stream](
                                                                     error_code error, std::size_t count) {
            stream.text.append(stream.buffer.data(), count);
            stream.eof = static_cast<bool>(error);
            const bool over = self->out_.text.size() + self->err_.text.size() > self->max_bytes_;
            if (!stream.eof && !over) self->read(stream);
            if (stream.eof || over) self->event_.notify();
            self->move_input();
        });
    }

    // One write at a time. A child that closes its input early is no error: what it did not read is dropped.
    void move_input() {
        input_.look(output_);
        error_code ignored;
        if (writing_) return;
        if (input_.ended()) in_.close(ignored);
        const std::string_view ready = input_.ready();
        if (ready.empty()) return;
        writing_ = true;
        in_.async_write_some(asio::buffer(ready),
                             [self = shared_from_this()](error_code error, std::size_t count) {
                                 self->writing_ = false;
                                 error ? self->input_.drop() : self->input_.sent(count);
                                 if (self->in_.is_open()) self->move_input();
                             });
    }

    Event event_;
    std::unique_ptr<ChildProcess> child_;
    Script script_;
    GatedInput input_;
    RunOutput output_;
    std::size_t max_bytes_;
    asio::posix::stream_descriptor in_;
    asio::posix::stream_descriptor ended_;
    Stream out_, err_;
    bool writing_ = false, has_ended_ = false;
};

class LocalConnection final : public Connection {
  public:
    LocalConnection(asio::io_context& io, std::shared_ptr<Cancellation> cancellation)
        : io_(io), cancellation_(std::move(cancellation)) {}

    Awaitable<Result<RunOutput>> run(const Script& script, Limits limits) override {
        if (cancellation_->requested()) co_return std::unexpected(cancelled());
        if (dead_) co_return std::unexpected(connection_dead());
        auto child = ChildProcess::start(script.command);
        if (!child) co_return std::unexpected(std::move(child.error()));
        const auto run =
            std::make_shared<LocalRun>(io_, cancellation_, std::move(*child), script, limits.max_bytes);
        run->start();
        dead_ = true;  // until the run has come to its own end; also where this coroutine is dropped
        const RunGuard guard{*run};
        auto result = co_await run->finish(limits);
        dead_ = !result;
        co_return result;
    }

  private:
    // A coroutine that is dropped half way must not leave the pumps waiting for its child.
    struct RunGuard {
        LocalRun& run;
        ~RunGuard() { run.close(); }
    };

    asio::io_context& io_;
    std::shared_ptr<Cancellation> cancellation_;
    bool dead_ = false;
};

class LocalTransport final : public Transport {
  public:
    explicit LocalTransport(asio::io_context& io) : io_(io) {
        struct sigaction current {};
        if (sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
            std::signal(SIGPIPE, SIG_IGN);
    }

    Awaitable<Result<std::unique_ptr<Connection>>> open(const Endpoint&, Clock::time_point) override {
        if (cancellation_->requested()) co_return std::unexpected(in_phase(cancelled(), "connect"));
        std::unique_ptr<Connection> connection = std::make_unique<LocalConnection>(io_, cancellation_);
        co_return connection;
    }

    void cancel_all() override { cancellation_->request(); }

  private:
    asio::io_context& io_;
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
};

}  // namespace

std::unique_ptr<Transport> make_local_transport(asio::io_context& io) {
    return std::make_unique<LocalTransport>(io);
}

}  // namespace cleanslate::agentless
