#include "agentless/ssh/command.hpp"

#include <algorithm>

#include "agentless/gated_input.hpp"
#include "agentless/run_errors.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// More than this waiting to be sent, and no further input is given to libssh2.
constexpr std::size_t enough_unsent = 256u << 10;
// For so long a host that refuses a session may be letting go of the last one.
constexpr std::chrono::milliseconds time_to_let_go{2000};

// Beside libssh2's codes, which are 0 and negative.
constexpr int takes_no_input = 1, floods = 2;

// So much may come over the wire beside the output of a command (keys are exchanged anew, the server asks for
// signs of life): libssh2 keeps what it has no use for. A byte of output in a packet of its own is 96 there.
constexpr std::size_t most_beside_output = 8u << 20, most_for_a_byte = 128;

// Moves the three streams of a command, as far as they go without waiting.
class Streams {
  public:
    Streams(LIBSSH2_CHANNEL* channel, Link& link, const Script& script, std::size_t max_bytes)
        : channel_(channel),
          link_(link),
          input_(script, link.event().waker()),
          max_bytes_(max_bytes),
          received_before_(link.received()) {}

    // One pass over all of them, again and again while something moves: 5 MB on stderr alone would otherwise
    // stop at its window. 0 at the end of both outputs (or where they have grown too long).
    int move() {
        char buffer[16384];
        for (bool moved = true; moved && !too_much();) {
            input_.look(output);
            moved = push_input();
            if (takes_none_) return takes_no_input;
            for (const int stream : {0, SSH_EXTENDED_DATA_STDERR}) {
                const ssize_t count = libssh2_channel_read_ex(channel_, stream, buffer, sizeof buffer);
                if (count < 0 && count != LIBSSH2_ERROR_EAGAIN) return static_cast<int>(count);
                if (count <= 0) continue;
                (stream == 0 ? output.out : output.err).append(buffer, static_cast<std::size_t>(count));
                moved = true;
            }
        }
        if (too_much() || libssh2_channel_eof(channel_) != 0) return 0;
        return link_.received() - received_before_ > most_beside_output + most_for_a_byte * size()
                   ? floods
                   : LIBSSH2_ERROR_EAGAIN;
    }

    // As much of the input as goes without waiting.
    int push() {
        while (!takes_none_ && push_input()) {
        }
        return takes_none_ ? takes_no_input : 0;
    }

    bool too_much() const { return size() > max_bytes_; }

    RunOutput output;

  private:
    std::size_t size() const { return output.out.size() + output.err.size(); }

    bool push_input() {
        if (input_.ended()) {
            if (eof_sent_) return false;
            eof_sent_ = libssh2_channel_send_eof(channel_) != LIBSSH2_ERROR_EAGAIN;
            return eof_sent_;
        }
        const std::string_view ready = input_.ready();
        if (ready.empty() || link_.unsent() >= enough_unsent) return false;
        const ssize_t count = libssh2_channel_write(channel_, ready.data(), ready.size());
        if (count > 0) {
            input_.sent(static_cast<std::size_t>(count));
            return true;
        }
        // A packet without a byte in it was sent: the host allows no larger ones, and would get them for
        // ever.
        takes_none_ = count == 0;
        // A command that closes its input early is no error: what it did not read is dropped.
        if (count < 0 && count != LIBSSH2_ERROR_EAGAIN) input_.drop();
        return false;
    }

    LIBSSH2_CHANNEL* channel_;
    Link& link_;
    GatedInput input_;
    std::size_t max_bytes_;
    std::size_t received_before_;
    bool eof_sent_ = false, takes_none_ = false;
};

std::unexpected<Error> flooded() {
    return std::unexpected(
        Error{"output_limit", "", "the host sends without end what is no output of a command", ""});
}

std::unexpected<Error> run_error(Session& session, Answer answer) {
    session.abandon();
    switch (answer.how) {
        case Answer::How::deadline:
            return std::unexpected(timed_out());
        case Answer::How::cancelled:
            return std::unexpected(cancelled());
        case Answer::How::lost:
            return std::unexpected(connection_lost("the host closed the connection" + session.farewell()));
        case Answer::How::broken:
            break;
        case Answer::How::silent:
            return std::unexpected(connection_lost("no sign of life from the host any more (keepalive)"));
        case Answer::How::flooded:
            return flooded();
        case Answer::How::answered:
            break;
    }
    switch (answer.code) {
        case LIBSSH2_ERROR_CHANNEL_FAILURE:
            return fail("refused", "the host opened no session", "see MaxSessions in its sshd_config");
        case LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED:
            return fail("refused", "the host refused to run a command");
        case LIBSSH2_ERROR_SOCKET_DISCONNECT:
        case LIBSSH2_ERROR_SOCKET_RECV:
        case LIBSSH2_ERROR_SOCKET_SEND:
            return std::unexpected(connection_lost("the host closed the connection"));
        case LIBSSH2_ERROR_OUT_OF_BOUNDARY:
        case LIBSSH2_ERROR_INVALID_MAC:
        case LIBSSH2_ERROR_DECRYPT:
        case LIBSSH2_ERROR_PROTO:
            return std::unexpected(
                connection_lost("what the host sends is no SSH any more: " + session.explain(answer.code)));
        case floods:
            return flooded();
        case takes_no_input:
            return fail("refused", "the host takes no input for a command: not a byte in a packet");
        default:
            return std::unexpected(connection_lost("the connection broke: " + session.explain(answer.code)));
    }
}

// Opens the channel of a session. A host that allows one at a time (MaxSessions 1) counts the last one until
// sshd has worked on our close, and refuses a request that came along with it: nothing tells when it is done,
// so the host is asked again, at once and then less and less often. One that refuses its first session means
// it.
Awaitable<Answer> open_channel(Session& session, LIBSSH2_CHANNEL*& channel, Clock::time_point deadline,
                               std::size_t max_received) {
    using std::chrono::milliseconds;
    const Session::Step open = [&] {
        channel = libssh2_channel_open_session(session.handle());
        return channel != nullptr ? 0 : libssh2_session_last_errno(session.handle());
    };
    Clock::time_point last_try = deadline;
    for (milliseconds pause{0};; pause = std::clamp(2 * pause, milliseconds{10}, milliseconds{200})) {
        const Answer answer = co_await session.repeat(open, deadline, max_received);
        if (answer.good()) session.note_channel();
        const bool refused =
            answer.how == Answer::How::answered && answer.code == LIBSSH2_ERROR_CHANNEL_FAILURE;
        if (!refused || !session.had_channel()) co_return answer;
        const Clock::time_point now = Clock::now();
        if (pause.count() == 0) last_try = std::min(deadline, now + time_to_let_go);
        if (now + pause > last_try) co_return answer;
        if (co_await session.pause(now + pause) == Event::Woken::cancelled)
            co_return Answer{Answer::How::cancelled, answer.code};
    }
}

// Whether a request that said EAGAIN is on its way: not where keys are exchanged anew just now, and input
// that overtook it would be lost. Only libssh2's text tells.
bool is_request_sent(Session& session) {
    return !session.explain(LIBSSH2_ERROR_EAGAIN).starts_with("Would block sending channel request");
}

// Killed by a signal: libssh2 reads the exit status as 0, only the signal tells.
void read_end(LIBSSH2_SESSION* session, LIBSSH2_CHANNEL* channel, RunOutput& output) {
    char* signal = nullptr;
    size_t size = 0;
    libssh2_channel_get_exit_signal(channel, &signal, &size, nullptr, nullptr, nullptr, nullptr);
    if (signal != nullptr) {
        output.exit_signal.assign(signal, size);
        libssh2_free(session, signal);
    } else {
        output.exit_status = libssh2_channel_get_exit_status(channel);
    }
}

}  // namespace

Awaitable<Result<RunOutput>> run_command(Session& session, const Script& script, Limits limits) {
    LIBSSH2_SESSION* const handle = session.handle();
    const auto most = [&] { return session.link().received() + most_beside_output; };
    LIBSSH2_CHANNEL* channel = nullptr;  // freed below, or with its session
    Answer answer = co_await open_channel(session, channel, limits.deadline, most());
    if (answer.how != Answer::How::silent && session.had_channel() && session.link().failed()) {
        session.abandon();
        co_return std::unexpected(connection_lost(
            "the host closed the connection after the command before (tinysshd serves one a connection)"));
    }
    if (!answer.good()) co_return run_error(session, answer);

    // The input follows the request at once, which saves a round trip: a host that refuses the command throws
    // it away.
    const auto streams = std::make_unique<Streams>(channel, session.link(), script, limits.max_bytes);
    const Session::Step start = [&] {
        const int code = libssh2_channel_exec(channel, script.command.c_str());
        if (code != LIBSSH2_ERROR_EAGAIN || !is_request_sent(session)) return code;
        const int pushed = streams->push();
        return pushed != 0 ? pushed : code;
    };
    answer = co_await session.repeat(start, limits.deadline, most());
    if (!answer.good()) co_return run_error(session, answer);

    const Session::Step move = [&] { return streams->move(); };
    answer = co_await session.repeat(move, limits.deadline);
    if (!answer.good()) co_return run_error(session, answer);
    if (streams->too_much()) {
        session.abandon();
        co_return std::unexpected(output_limit(limits.max_bytes));
    }
    // The exit status comes between EOF and CLOSE. A server that sends EOF and never CLOSE runs into the
    // deadline.
    const Session::Step wait = [&] { return libssh2_channel_wait_closed(channel); };
    answer = co_await session.repeat(wait, limits.deadline, most());
    if (!answer.good()) co_return run_error(session, answer);
    // Ours, which waits for nothing but the end of a key exchange that may be under way.
    const Session::Step close = [&] { return libssh2_channel_close(channel); };
    answer = co_await session.repeat(close, limits.deadline, most());
    if (answer.how != Answer::How::answered) co_return run_error(session, answer);

    read_end(handle, channel, streams->output);
    libssh2_channel_free(channel);  // both sides are closed: never EAGAIN
    session.link().flush();
    co_return std::move(streams->output);
}

}  // namespace cleanslate::agentless::ssh
