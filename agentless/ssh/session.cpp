#include "agentless/ssh/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "agentless/run_errors.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// Cheapest first (client CPU a login: curve25519 1.1 ms, nistp256 1.2, group14 6.6, group16 42).
constexpr const char* key_exchanges[] = {
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
    "ecdh-sha2-nistp384",
    "ecdh-sha2-nistp521",
    "diffie-hellman-group14-sha256",
    "diffie-hellman-group-exchange-sha256",
    "diffie-hellman-group16-sha512",
    "diffie-hellman-group18-sha512",
};

// No methods but announcements. libssh2 1.11.0 drops them for a list of our own, and then signs with an RSA
// key as OpenSSH 8.8 refuses it; later ones add them by themselves.
constexpr const char* announcements[] = {"ext-info-c", "kex-strict-c-v00@openssh.com"};

// Those of `wanted` that this libssh2 has, in order: it must not be asked for others (it cuts them out of the
// list by an overlapping memcpy).
std::string supported(LIBSSH2_SESSION* session, int method, std::span<const std::string> wanted) {
    const char** names = nullptr;
    const int count = libssh2_session_supported_algs(session, method, &names);
    if (count <= 0) return {};
    std::string list;
    for (const std::string& name : wanted) {
        if (std::none_of(names, names + count, [&](const char* known) { return name == known; })) continue;
        list += (list.empty() ? "" : ",") + name;
    }
    libssh2_free(session, names);
    return list;
}

// Those of libssh2's that no ssh of today would take, by a part of the name.
constexpr const char* outdated[] = {"none", "cbc", "arcfour", "md5", "ripemd", "-96"};

// All that this libssh2 has, in its order, but for the outdated ones.
std::string up_to_date(LIBSSH2_SESSION* session, int method) {
    const char** names = nullptr;
    const int count = libssh2_session_supported_algs(session, method, &names);
    if (count <= 0) return {};
    std::string list;
    for (const std::string_view name : std::span(names, static_cast<std::size_t>(count))) {
        if (std::ranges::any_of(outdated, [&](const char* part) { return name.contains(part); })) continue;
        list += (list.empty() ? "" : ",") + std::string(name);
    }
    libssh2_free(session, names);
    return list;
}

constexpr std::size_t longest_farewell = 1000;

}  // namespace

// Called by libssh2, which hands back the session that they belong to.
struct Session::Callbacks {
    static Session& of(void** session) { return *static_cast<Session*>(*session); }
    static ssize_t take(libssh2_socket_t, void* buffer, size_t size, int, void** session) {
        return of(session).link_->take(buffer, size);
    }
    static ssize_t put(libssh2_socket_t, const void* buffer, size_t size, int, void** session) {
        return of(session).link_->put(buffer, size);
    }
    static void note_farewell(LIBSSH2_SESSION*, int, const char* text, int size, const char*, int,
                              void** session) {
        of(session).said_farewell_ = true;
        if (text != nullptr && size > 0)
            of(session).farewell_.assign(text, std::min(static_cast<std::size_t>(size), longest_farewell));
    }
    static void set(LIBSSH2_SESSION* session) {
#if LIBSSH2_VERSION_NUM >= 0x010b01
        const auto set_one = [&](int type, auto* callback) {
            libssh2_session_callback_set2(session, type, reinterpret_cast<libssh2_cb_generic*>(callback));
        };
#else
        const auto set_one = [&](int type, auto* callback) {
            libssh2_session_callback_set(session, type, reinterpret_cast<void*>(callback));
        };
#endif
        set_one(LIBSSH2_CALLBACK_RECV, &take);
        set_one(LIBSSH2_CALLBACK_SEND, &put);
        set_one(LIBSSH2_CALLBACK_DISCONNECT, &note_farewell);
    }
};

Status start_library() {
    static const int code = libssh2_init(0);
    if (code != 0) return fail("internal", fmt::format("libssh2 did not start ({})", code));
    return {};
}

Session::Session(std::shared_ptr<Link> link)
    : link_(std::move(link)), handle_(libssh2_session_init_ex(nullptr, nullptr, nullptr, this)) {
    if (handle_ == nullptr) return;
    libssh2_session_set_blocking(handle_, 0);
    Callbacks::set(handle_);
}

Session::~Session() {
    if (handle_ != nullptr && !abandoned_ && !link_->failed()) {
        libssh2_session_disconnect(handle_, "done");
        link_->flush();
    }
    link_->close();  // from here on the callbacks fail, so that freeing never says EAGAIN
    for (int i = 0; handle_ != nullptr && i < 8; ++i) {
        if (libssh2_session_free(handle_) != LIBSSH2_ERROR_EAGAIN) return;
    }
}

Awaitable<Answer> Session::repeat(const Step& step, Clock::time_point deadline, std::size_t max_received) {
    for (;;) {
        const bool was_lost = link_->failed();  // what came before it is still to be read
        const int code = step();
        link_->flush();
        if (code == LIBSSH2_ERROR_TIMEOUT) co_return Answer{Answer::How::deadline, code};  // its own 60 s
        if (code != LIBSSH2_ERROR_EAGAIN) co_return settled(code);
        if (was_lost) co_return Answer{Answer::How::lost, code};
        if (link_->received() > max_received) co_return Answer{Answer::How::flooded, code};
        link_->want_input();
        const Event::Woken woken = co_await link_->event().wait(std::min(deadline, alive_.next));
        if (woken == Event::Woken::cancelled) co_return Answer{Answer::How::cancelled, code};
        if (Clock::now() >= deadline) co_return Answer{Answer::How::deadline, code};
        if (!look_alive()) co_return Answer{Answer::How::silent, code};
    }
}

// Where the connection fails while libssh2 waits for what comes of a key or a password, it says that they
// were refused, and only its text tells.
Answer Session::settled(int code) {
    if (code >= 0) return {Answer::How::answered, code};
    if (said_farewell_) return {Answer::How::lost, code};
    const bool refused =
        code == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED || code == LIBSSH2_ERROR_AUTHENTICATION_FAILED;
    if (!refused || !explain(code).starts_with("Waiting for")) return {Answer::How::answered, code};
    return {link_->failed() ? Answer::How::lost : Answer::How::broken, code};
}

void Session::keep_alive(Milliseconds interval, int count_max) {
    if (interval.count() <= 0) return;
    // libssh2 sends no two of them within two whole seconds, and does not say when it sent none.
    const Milliseconds shortest{2100};
    alive_.interval = std::max(interval, shortest);
    alive_.count_max = count_max;
    alive_.received = link_->received();
    alive_.next = Clock::now() + alive_.interval;
    libssh2_keepalive_config(handle_, 1, 2);
}

bool Session::look_alive() {
    const auto now = Clock::now();
    if (link_->received() != alive_.received) {
        alive_.received = link_->received();
        alive_.unanswered = 0;
        if (alive_.interval.count() > 0) alive_.next = now + alive_.interval;
        return true;
    }
    if (now < alive_.next) return true;
    if (alive_.unanswered == alive_.count_max) return false;
    ++alive_.unanswered;
    alive_.next = now + alive_.interval;
    int ignored = 0;
    libssh2_keepalive_send(handle_, &ignored);
    link_->flush();
    return true;
}

Awaitable<Event::Woken> Session::pause(Clock::time_point until) {
    for (;;) {
        const Event::Woken woken = co_await link_->event().wait(until);
        if (woken != Event::Woken::notified || link_->failed()) co_return woken;
    }
}

Status Session::prefer(const std::vector<std::string>& host_key_algorithms) {
    std::vector<std::string> exchanges(std::begin(key_exchanges), std::end(key_exchanges));
    if (library_age() == LibraryAge::is_1_11_0)
        exchanges.insert(exchanges.end(), std::begin(announcements), std::end(announcements));
    const std::string kex = supported(handle_, LIBSSH2_METHOD_KEX, exchanges);
    const std::string keys = supported(handle_, LIBSSH2_METHOD_HOSTKEY, host_key_algorithms);
    const std::string ciphers = up_to_date(handle_, LIBSSH2_METHOD_CRYPT_CS);
    const std::string macs = up_to_date(handle_, LIBSSH2_METHOD_MAC_CS);
    const std::pair<int, const std::string&> preferred[] = {
        {LIBSSH2_METHOD_KEX, kex},          {LIBSSH2_METHOD_HOSTKEY, keys},
        {LIBSSH2_METHOD_CRYPT_CS, ciphers}, {LIBSSH2_METHOD_CRYPT_SC, ciphers},
        {LIBSSH2_METHOD_MAC_CS, macs},      {LIBSSH2_METHOD_MAC_SC, macs},
    };
    // Where this fails (-33), libssh2's own list stays active, and a host "fails" whose key is well known.
    for (const auto& [method, names] : preferred)
        if (libssh2_session_method_pref(handle_, method, names.c_str()) != 0)
            return fail("handshake_failed", "this libssh2 has none of the algorithms that are wanted");
    return {};
}

Awaitable<Status> Session::handshake(const std::vector<std::string>& host_key_algorithms,
                                     Clock::time_point deadline) {
    if (handle_ == nullptr) co_return fail("handshake_failed", "out of memory");
    if (auto preferred = prefer(host_key_algorithms); !preferred) {
        co_return std::unexpected(in_phase(preferred.error(), "handshake"));
    }
    const int descriptor = link_->descriptor();
    const Step step = [&] { return libssh2_session_handshake(handle_, descriptor); };
    const Answer answer = co_await repeat(step, deadline, max_login_bytes);
    if (!answer.good()) co_return handshake_error(answer);
    co_return Status{};
}

std::unexpected<Error> Session::handshake_error(Answer answer) {
    abandoned_ = true;
    const auto failed = [](std::string message, std::string remedy) {
        return std::unexpected(Error{"handshake_failed", "handshake", std::move(message), std::move(remedy)});
    };
    const char* const overrun =
        "too many logins at once (MaxStartups there; lower --fanout), or it refuses this address";
    const char* const other = "is the host overloaded, or is this the port of another service?";
    const std::string said = greeting().empty() ? "" : ": it said " + printable(ellipsize(greeting(), 80));
    const bool greeted = greeting().starts_with("SSH-");
    switch (answer.how) {
        case Answer::How::cancelled:
            return std::unexpected(in_phase(cancelled(), "handshake"));
        case Answer::How::deadline: {
            std::string what = "the SSH handshake did not come to its end in time";
            if (link_->received() == 0) what = "it accepted the connection and said nothing";
            if (!said.empty() && !greeted) what = "it did not greet as an SSH server in time" + said;
            return std::unexpected(Error{"handshake_timeout", "handshake", std::move(what), other});
        }
        case Answer::How::flooded:
            if (greeted) return failed("it sends data without end during the handshake", other);
            return failed("it sends text without end in place of an SSH greeting", other);
        case Answer::How::silent:
        case Answer::How::lost:
        case Answer::How::broken:
        case Answer::How::answered:
            break;
    }
    if (said_farewell_) return failed("it closed the connection during the handshake" + farewell(), overrun);
    if (answer.code == LIBSSH2_ERROR_KEX_FAILURE) {
        return failed("no algorithm in common: " + explain(answer.code),
                      no_common_algorithm(library_age(), library_version()));
    }
    // Its code may then be any: some calls only say that they failed.
    closed_early_ = link_->failed();
    if (answer.code == LIBSSH2_ERROR_BANNER_RECV || (closed_early_ && link_->received() > 0 && !greeted))
        return failed("what answers there is no SSH server, or one that refuses for now" + said, overrun);
    if (closed_early_) return failed("it closed the connection during the handshake", overrun);
    return failed("the SSH handshake went wrong: " + explain(answer.code),
                  "is this an SSH server, and does anything in between change what it sends?");
}

// The last line that came before or as the greeting; empty where none.
std::string_view Session::greeting() const {
    const char* line = libssh2_session_banner_get(handle_);
    return line == nullptr ? std::string_view() : std::string_view(line);
}

std::string_view Session::host_key() const {
    size_t size = 0;
    int type = 0;
    const char* blob = libssh2_session_hostkey(handle_, &size, &type);
    return blob == nullptr ? std::string_view() : std::string_view(blob, size);
}

std::string Session::farewell() const {
    const std::string_view text = trim(farewell_);
    return text.empty() ? "" : ": " + printable(ellipsize(text, 160));
}

std::string Session::explain(int code) {
    char* text = nullptr;
    int size = 0;
    const int last = libssh2_session_last_error(handle_, &text, &size, 0);
    if (last != code || text == nullptr || size <= 0) return fmt::format("libssh2 says {}", code);
    return fmt::format("{} ({})", printable(std::string_view(text, static_cast<std::size_t>(size))), code);
}

}  // namespace cleanslate::agentless::ssh
