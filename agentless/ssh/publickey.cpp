#include "agentless/ssh/publickey.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "agentless/ssh/login_errors.hpp"
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

}  // namespace

PublickeyLogin::PublickeyLogin(Session& session, boost::asio::io_context& io,
                               std::shared_ptr<Cancellation> cancellation, const Credentials& credentials,
                               Clock::time_point deadline)
    : session_(session),
      credentials_(credentials),
      deadline_(deadline),
      agent_(io, std::move(cancellation), credentials.agent_socket) {}

Awaitable<Result<bool>> PublickeyLogin::run() {
    took_a_key_ = false;
    for (const Identity& identity : credentials_.identities) {
        if (offered(identity.blob)) continue;
        const bool agent_signs = !identity.key;
        if (agent_signs && !co_await agent_has(identity.blob)) continue;
        const auto accepted = co_await offer(identity.blob, identity.key.get(), identity.file);
        if (!accepted || *accepted || took_a_key_) co_return accepted;
    }
    if (credentials_.only_these) co_return false;
    co_await list_agent_keys();
    for (const std::string& blob : agent_keys_) {
        if (offered(blob)) continue;
        const auto accepted = co_await offer(blob, nullptr, "agent");
        if (!accepted || *accepted || took_a_key_) co_return accepted;
    }
    co_return false;
}

// Whether the host let us in by this key. An error ends the login.
Awaitable<Result<bool>> PublickeyLogin::offer(const std::string& blob, const SigningKey* key,
                                              const std::string& origin) {
    if (!can_be_offered(key_type(blob))) {
        std::string what = fmt::format("{} of type {}", printable(origin), printable(key_type(blob)));
        if (std::ranges::find(passed_over_, what) == passed_over_.end())
            passed_over_.push_back(std::move(what));
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
        if (answer.how != Answer::How::answered)
            co_return login_cut(session_, answer, offered_text() + agent_problem_text());
        if (answer.code != signature_wanted) {
            took_a_key_ = request.signature && !request.signature->empty();
            co_return judge(answer);
        }
        request.wanted = false;
        request.signature = co_await agent_signature(blob, request.data);
        if (Clock::now() >= deadline_) {
            const Answer late{Answer::How::deadline, 0};
            co_return login_cut(session_, late, offered_text() + agent_problem_text());
        }
    }
}

Result<bool> PublickeyLogin::judge(Answer answer) {
    const bool refused = answer.code == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED ||
                         answer.code == LIBSSH2_ERROR_AUTHENTICATION_FAILED;
    if (answer.code == 0) return true;
    // 1.10 says "unverified" for a connection that is gone, too.
    if (connection_is_gone(answer.code) || (refused && session_.link().failed()))
        return login_cut(session_, {Answer::How::lost, answer.code}, offered_text());
    if (refused) return false;
    session_.abandon();
    return auth_error("auth_failed", session_.explain(answer.code));
}

Awaitable<void> PublickeyLogin::list_agent_keys() {
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

Awaitable<bool> PublickeyLogin::agent_has(const std::string& blob) {
    co_await list_agent_keys();
    co_return std::ranges::find(agent_keys_, blob) != agent_keys_.end();
}

// Empty where the agent refuses or fails.
Awaitable<std::string> PublickeyLogin::agent_signature(const std::string& blob, const std::string& data) {
    if (!agent_problem_.empty()) co_return std::string();
    auto signature = co_await agent_.sign(blob, data, requested_algorithm(data), deadline_);
    if (signature) co_return std::move(*signature);
    agent_problem_ = signature.error().message;
    co_return std::string();
}

bool PublickeyLogin::offered(const std::string& blob) const {
    return std::ranges::any_of(offered_, [&](const Offered& before) { return before.blob == blob; });
}

std::string PublickeyLogin::offered_text() const {
    std::string text;
    for (const Offered& key : offered_) {
        text += fmt::format("{}{} {} ({})", text.empty() ? "; offered: " : ", ", key_type(key.blob),
                            fingerprint(key.blob), printable(key.origin));
    }
    return text;
}

std::string PublickeyLogin::passed_over_text() const {
    if (passed_over_.empty()) return {};
    return fmt::format("; not supported here: {}", fmt::join(passed_over_, ", "));
}

std::string PublickeyLogin::agent_problem_text() const {
    return agent_problem_.empty() ? "" : "; " + agent_problem_;
}

std::string_view requested_algorithm(std::string_view data) {
    WireReader reader(data);
    if (!reader.text() || !reader.byte()) return {};                    // session id, message number
    if (!reader.text() || !reader.text() || !reader.text()) return {};  // user, service, "publickey"
    if (!reader.byte()) return {};                                      // a signature follows
    return reader.text().value_or(std::string_view());
}

}  // namespace cleanslate::agentless::ssh
