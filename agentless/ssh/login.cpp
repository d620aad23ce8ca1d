#include "agentless/ssh/login.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "agentless/run_errors.hpp"
#include "agentless/ssh/agent_client.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr int signature_wanted = 1;  // beside libssh2's codes, which are 0 and negative

// What the signing callback needs and leaves behind.
struct SignRequest {
    const SigningKey* key = nullptr;  // null: somebody else signs
    bool wanted = false;              // `data` is to be signed
    std::string data;
    std::optional<std::string> signature;  // empty: refused
};

// Answers at once with a key of our own; else asks by EAGAIN, and libssh2 calls again with the same data.
int sign(LIBSSH2_SESSION*, unsigned char** signature, size_t* size, const unsigned char* data,
         size_t data_size, void** abstract) {
    auto& request = *static_cast<SignRequest*>(*abstract);
    const std::string_view text(reinterpret_cast<const char*>(data), data_size);
    if (!request.signature && request.key != nullptr) {
        request.signature = request.key->sign(text, requested_algorithm(text));
    }
    if (!request.signature) {
        request.data = text;
        request.wanted = true;
        return LIBSSH2_ERROR_EAGAIN;
    }
    if (request.signature->empty()) return LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED;
    *size = request.signature->size();
    *signature = static_cast<unsigned char*>(std::malloc(*size));  // freed by libssh2 with its default free()
    if (*signature == nullptr) return LIBSSH2_ERROR_ALLOC;
    std::memcpy(*signature, request.signature->data(), *size);
    return 0;
}

bool can_be_offered(std::string_view type) {
    return type == "ssh-ed25519" || type.starts_with("ecdsa-sha2-nistp") ||
           (type == "ssh-rsa" && rsa_works());
}

// One login under way.
class Login {
  public:
    Login(Session& session, boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
          const Credentials& credentials, Clock::time_point deadline)
        : session_(session),
          credentials_(credentials),
          deadline_(deadline),
          agent_(io, std::move(cancellation), credentials.agent_socket) {}

    Awaitable<Status> run() {
        for (const Identity& identity : credentials_.identities) {
            const bool agent_signs = !identity.key;
            if (agent_signs && !co_await agent_has(identity.blob)) continue;
            const auto accepted = co_await offer(identity.blob, identity.key.get(), identity.file);
            if (!accepted) co_return std::unexpected(accepted.error());
            if (*accepted) co_return Status{};
        }
        if (!credentials_.only_these) {
            co_await list_agent_keys();
            for (const std::string& blob : agent_keys_) {
                if (offered(blob)) continue;
                const auto accepted = co_await offer(blob, nullptr, "agent");
                if (!accepted) co_return std::unexpected(accepted.error());
                if (*accepted) co_return Status{};
            }
        }
        co_return refused();
    }

  private:
    // Whether the host let us in by this key. An error ends the login.
    Awaitable<Result<bool>> offer(const std::string& blob, const SigningKey* key, const std::string& origin) {
        if (!can_be_offered(key_type(blob))) {
            passed_over_.push_back(
                fmt::format("{} of type {}", printable(origin), printable(key_type(blob))));
            co_return false;
        }
        if (offered_.size() == max_offers) co_return false;
        offered_.push_back({blob, origin});
        SignRequest request;
        request.key = key;
        void* abstract = &request;
        const auto* bytes = reinterpret_cast<const unsigned char*>(blob.data());
        const Session::Step step = [&] {
            const int code = libssh2_userauth_publickey(session_.handle(), credentials_.user.c_str(), bytes,
                                                        blob.size(), sign, &abstract);
            return code == LIBSSH2_ERROR_EAGAIN && request.wanted ? signature_wanted : code;
        };
        for (;;) {
            const Answer answer = co_await session_.repeat(step, deadline_, Session::max_login_bytes);
            if (answer.how != Answer::How::answered) co_return cut(answer);
            if (answer.code != signature_wanted) co_return judge(answer);
            request.wanted = false;
            request.signature = co_await agent_signature(blob, request.data);
            if (Clock::now() >= deadline_) co_return cut({Answer::How::deadline, 0});
        }
    }

    Result<bool> judge(Answer answer) {
        switch (answer.code) {
            case 0:
                return true;
            case LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED:  // 1.10 says so for a connection that is gone, too
            case LIBSSH2_ERROR_AUTHENTICATION_FAILED:
                if (session_.link().failed()) return cut({Answer::How::lost, answer.code});
                return false;
            case LIBSSH2_ERROR_SOCKET_DISCONNECT:
            case LIBSSH2_ERROR_SOCKET_RECV:
            case LIBSSH2_ERROR_SOCKET_SEND:
                return cut({Answer::How::lost, answer.code});
            default:
                session_.abandon();
                return auth_error("auth_failed", session_.explain(answer.code));
        }
    }

    std::unexpected<Error> cut(Answer answer) {
        session_.abandon();
        switch (answer.how) {
            case Answer::How::cancelled:
                return std::unexpected(in_phase(cancelled(), "auth"));
            case Answer::How::deadline:
                return auth_error("auth_timeout",
                                  "the login did not come to its end in time" + agent_problem_text());
            case Answer::How::flooded:
                return auth_error("auth_failed", "it sends data without end during the login");
            default:
                return auth_error("auth_failed",
                                  "it closed the connection during the login" + offered_text());
        }
    }

    Awaitable<void> list_agent_keys() {
        if (agent_listed_ || credentials_.agent_socket.empty()) co_return;
        agent_listed_ = true;
        const auto now = Clock::now();
        const auto half = now + (std::max(deadline_, now) - now) / 2;
        const auto connected = co_await agent_.connect(half);
        if (!connected) {
            agent_problem_ = connected.error().message;
            co_return;
        }
        auto keys = co_await agent_.identities(half);
        if (keys) {
            agent_keys_ = std::move(*keys);
        } else {
            agent_problem_ = keys.error().message;
        }
    }

    Awaitable<bool> agent_has(const std::string& blob) {
        co_await list_agent_keys();
        co_return std::ranges::find(agent_keys_, blob) != agent_keys_.end();
    }

    // Empty where the agent refuses or fails.
    Awaitable<std::string> agent_signature(const std::string& blob, const std::string& data) {
        if (!agent_problem_.empty()) co_return std::string();
        auto signature = co_await agent_.sign(blob, data, requested_algorithm(data), deadline_);
        if (signature) co_return std::move(*signature);
        agent_problem_ = signature.error().message;
        co_return std::string();
    }

    bool offered(const std::string& blob) const {
        return std::ranges::any_of(offered_, [&](const Offered& before) { return before.blob == blob; });
    }

    static std::unexpected<Error> auth_error(std::string kind, std::string message, std::string remedy = {}) {
        return std::unexpected(Error{std::move(kind), "auth", std::move(message), std::move(remedy)});
    }

    std::unexpected<Error> refused() const {
        const std::string user = printable(credentials_.user);
        if (offered_.empty()) {
            return auth_error(
                "auth_failed",
                fmt::format("no key to offer for user {}{}{}", user, passed_over_text(),
                            agent_problem_text()),
                "name an identity file in the inventory, or load a key into the agent (ssh-add)");
        }
        return auth_error(
            "auth_failed",
            fmt::format("user {} was refused{}{}{}", user, offered_text(), passed_over_text(),
                        agent_problem_text()),
            fmt::format("add one of these keys to ~{}/.ssh/authorized_keys there, or name another", user));
    }

    std::string offered_text() const {
        std::string text;
        for (const Offered& key : offered_) {
            text += fmt::format("{}{} {} ({})", text.empty() ? "; offered: " : ", ", key_type(key.blob),
                                fingerprint(key.blob), printable(key.origin));
        }
        return text;
    }
    std::string passed_over_text() const {
        if (passed_over_.empty()) return {};
        return fmt::format("; not supported here: {}", fmt::join(passed_over_, ", "));
    }
    std::string agent_problem_text() const { return agent_problem_.empty() ? "" : "; " + agent_problem_; }

    struct Offered {
        std::string blob, origin;
    };

    Session& session_;
    const Credentials& credentials_;
    Clock::time_point deadline_;
    AgentClient agent_;
    bool agent_listed_ = false;
    std::vector<std::string> agent_keys_;
    std::string agent_problem_;
    std::vector<Offered> offered_;
    std::vector<std::string> passed_over_;
};

}  // namespace

std::string_view requested_algorithm(std::string_view data) {
    WireReader reader(data);
    if (!reader.text() || !reader.byte()) return {};                    // session id, message number
    if (!reader.text() || !reader.text() || !reader.text()) return {};  // user, service, "publickey"
    if (!reader.byte()) return {};                                      // a signature follows
    return reader.text().value_or(std::string_view());
}

Awaitable<Status> log_in(Session& session, boost::asio::io_context& io,
                         const std::shared_ptr<Cancellation>& cancellation, const Credentials& credentials,
                         Clock::time_point deadline) {
    if (credentials.user.size() > 255 || credentials.user.find('\0') != std::string::npos) {
        co_return std::unexpected(Error{"auth_failed", "auth", "this is no possible user name", ""});
    }
    Login login(session, io, cancellation, credentials, deadline);
    co_return co_await login.run();
}

}  // namespace cleanslate::agentless::ssh
