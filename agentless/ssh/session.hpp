#pragma once
// One libssh2 session over one Link. libssh2 never sees a socket: it takes from and puts into the link's
// buffers, so it never waits, never leaves a packet half sent, and a peer that sends endless text cannot hold
// it.

#include <libssh2.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/ssh/library.hpp"
#include "agentless/ssh/link.hpp"

namespace cleanslate::agentless::ssh {

// Once, before any thread. Errors have kind "internal".
Status start_library();

// How a call that was repeated until it had an answer came to its end.
struct Answer {
    enum class How {
        answered,  // `code` is what libssh2 said
        lost,      // the peer or the network closed the connection, or the peer said that it does
        broken,    // what the peer sends is no SSH
        flooded,   // the peer sent more than a login can need
        silent,    // nothing came for as long as keep_alive() allows, and no answer to a request
        deadline,
        cancelled,
    };
    How how = How::answered;
    int code = 0;  // 0, or a negative LIBSSH2_ERROR_
    bool good() const { return how == How::answered && code == 0; }
};

class Session {
  public:
    using Step = std::function<int()>;
    static constexpr std::size_t max_login_bytes = 1u << 20;

    explicit Session(std::shared_ptr<Link> link);
    // Sends a farewell if that can be done at once, then frees everything. Never waits.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Banner, key exchange, service request. Host key algorithms in the order to ask for. Errors have phase
    // "handshake" and kind "handshake_timeout", "handshake_failed", "cancelled".
    Awaitable<Status> handshake(const std::vector<std::string>& host_key_algorithms,
                                Clock::time_point deadline);
    // Whether a failed handshake was the host closing the connection early, as an overrun sshd does.
    bool closed_early() const { return closed_early_; }
    std::string_view host_key() const;

    // Repeats a call of libssh2 that said EAGAIN, with the same arguments and before any other call, until it
    // has an answer.
    Awaitable<Answer> repeat(const Step& step, Clock::time_point deadline,
                             std::size_t max_received = ~std::size_t{0});

    // From now on, while something is waited for: where nothing came for `interval`, the host is asked for a
    // sign of life (keepalive@openssh.com), and after `count_max` such requests without one the session is
    // given up as `silent`. 0: never. Only once it is logged in.
    void keep_alive(Milliseconds interval, int count_max);
    // For whoever waits otherwise than by repeat(): whether the host may still be there. Asks it where it is
    // time to, and is to be called again by then.
    bool look_alive();
    Clock::time_point next_look() const { return alive_.next; }

    // Waits for the time alone, or until it is cancelled or the link fails.
    Awaitable<Event::Woken> pause(Clock::time_point until);

    LIBSSH2_SESSION* handle() { return handle_; }
    Link& link() { return *link_; }
    // What libssh2 says about `code`, in its own words where they are about this code.
    std::string explain(int code);
    // What the peer gave as its reason for closing the connection, to end a sentence (": too many ...");
    // empty where it gave none.
    std::string farewell() const;
    // Whether a channel was ever opened: the host allows at least one.
    bool had_channel() const { return had_channel_; }
    void note_channel() { had_channel_ = true; }
    // No farewell: the session was cut in the middle of something.
    void abandon() { abandoned_ = true; }

  private:
    struct Alive {
        Milliseconds interval{0};
        int count_max = 0, unanswered = 0;
        std::size_t received = 0;
        Clock::time_point next = Clock::time_point::max();
    };
    struct Callbacks;
    Status prefer(const std::vector<std::string>& host_key_algorithms);
    Answer settled(int code);
    std::unexpected<Error> handshake_error(Answer answer);
    std::string_view greeting() const;

    std::shared_ptr<Link> link_;
    LIBSSH2_SESSION* handle_ = nullptr;
    Alive alive_;
    bool closed_early_ = false, abandoned_ = false, had_channel_ = false;
    bool said_farewell_ = false;
    std::string farewell_;  // as it came, its beginning
};

}  // namespace cleanslate::agentless::ssh
