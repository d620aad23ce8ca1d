#include "agentless/ssh/publickey.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "agentless/ssh/certificate.hpp"
#include "agentless/ssh/key_support.hpp"
#include "agentless/ssh/login_errors.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::chrono_literals;

constexpr auto turn_pause = 20ms;    // while another login asks the agent
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

bool is_rsa(std::string_view type) { return plain_algorithm(type) == "ssh-rsa"; }

// Why nobody can sign for this one.
std::string no_signer(const Identity& identity, bool has_agent) {
    if (!has_agent) return "only a public key, and there is no agent";
    if (identity.locked) return "encrypted, and the agent does not hold it";
    return "the agent does not hold it";
}

// What is wrong with a certificate's time by this machine's clock; the host's decides.
std::string validity_text(const Certificate& certificate) {
    const auto now = static_cast<std::uint64_t>(std::time(nullptr));
    const std::string problem = validity_problem(certificate, now);
    return problem.empty() ? "" : ", " + problem;
}

}  // namespace

PublickeyLogin::PublickeyLogin(Session& session, boost::asio::io_context& io,
                               std::shared_ptr<Cancellation> cancellation, const Credentials& credentials,
                               Clock::time_point deadline)
    : session_(session),
      io_(io),
      cancellation_(cancellation),
      credentials_(credentials),
      deadline_(deadline),
      agent_(io, std::move(cancellation), credentials.agent_socket) {}

Awaitable<Result<bool>> PublickeyLogin::run() {
    took_a_key_ = false;
    if (!collected_own_) co_await collect_own();
    auto in = co_await offer_all();
    if (!in || *in || took_a_key_ || credentials_.only_these || credentials_.agent_socket.empty())
        co_return in;
    if (!collected_the_agents_) co_await collect_the_agents();
    co_return co_await offer_all();
}

Awaitable<void> PublickeyLogin::collect_own() {
    collected_own_ = true;
    const bool has_agent = !credentials_.agent_socket.empty();
    for (const Identity& identity : credentials_.identities) {
        Candidate candidate{identity.blob, identity.file, identity.key.get(), {}};
        if (!identity.key) {
            co_await list_agent_keys();
            const auto certificate = read_certificate(identity.blob);
            const std::string& plain = certificate ? certificate->plain_blob : identity.blob;
            if (agent_list_ && agent_list_->holds(plain))
                candidate.agent_blob = plain;
            else if (agent_list_ && agent_list_->holds(identity.blob))
                candidate.agent_blob = identity.blob;
            if (candidate.agent_blob.empty()) {
                passed_over_.push_back(
                    fmt::format("{} ({})", printable(identity.file), no_signer(identity, has_agent)));
                continue;
            }
        }
        if (!known(candidate.blob)) candidates_.push_back(std::move(candidate));
    }
    // A server that takes no signatures by RSA leaves libssh2 unable to offer another key: they go last, of
    // those that are offered at all.
    const auto end = candidates_.begin() +
                     static_cast<std::ptrdiff_t>(std::min<std::size_t>(candidates_.size(), max_offers));
    std::stable_partition(candidates_.begin(), end,
                          [](const Candidate& candidate) { return !is_rsa(key_type(candidate.blob)); });
}

Awaitable<void> PublickeyLogin::collect_the_agents() {
    collected_the_agents_ = true;
    co_await list_agent_keys();
    if (!agent_list_) co_return;
    const auto first = static_cast<std::ptrdiff_t>(candidates_.size());
    for (const std::string& blob : agent_list_->keys)
        if (!known(blob)) candidates_.push_back({blob, "agent", nullptr, blob});
    const std::size_t places = max_offers - std::min<std::size_t>(max_offers, offered_.size());
    const auto end =
        std::min(candidates_.end(), candidates_.begin() + first + static_cast<std::ptrdiff_t>(places));
    std::stable_partition(candidates_.begin() + first, end,
                          [](const Candidate& candidate) { return !is_rsa(key_type(candidate.blob)); });
}

Awaitable<Result<bool>> PublickeyLogin::offer_all() {
    while (next_ < candidates_.size() && !took_a_key_ && !spoiled_) {
        const Candidate& candidate = candidates_[next_++];
        const std::string_view type = key_type(candidate.blob);
        if (!can_be_offered(type, library_age())) {
            passed_over_.push_back(
                fmt::format("{} ({})", printable(candidate.origin), not_supported(type, library_version())));
            continue;
        }
        if (offered_.size() == max_offers) break;
        const auto in = co_await offer(candidate);
        if (!in || *in) co_return in;
    }
    co_return false;
}

// Whether the host let us in by this key. An error ends the login.
Awaitable<Result<bool>> PublickeyLogin::offer(const Candidate& candidate) {
    offered_.push_back({candidate.blob, candidate.origin});
    SignRequest request;
    request.key = candidate.key;
    void* abstract = &request;
    const auto* bytes = reinterpret_cast<const unsigned char*>(candidate.blob.data());
    const Session::Step step = [&] {
        const int code = libssh2_userauth_publickey(session_.handle(), credentials_.user.c_str(), bytes,
                                                    candidate.blob.size(), sign, &abstract);
        return code == LIBSSH2_ERROR_EAGAIN && request.wanted ? signature_wanted : code;
    };
    for (;;) {
        const Answer answer = co_await session_.repeat(step, deadline_, Session::max_login_bytes);
        if (answer.how != Answer::How::answered) co_return login_cut(session_, answer, cut_text());
        const bool was_signed = request.signature && !request.signature->empty();
        if (answer.code != signature_wanted) co_return judge(answer, was_signed);
        request.wanted = false;
        request.signature = co_await agent_signature(candidate.agent_blob, request.data);
        if (Clock::now() >= deadline_) {
            const Answer late{Answer::How::deadline, 0};
            co_return login_cut(session_, late, cut_text());
        }
    }
}

Result<bool> PublickeyLogin::judge(Answer answer, bool was_signed) {
    const bool unverified = answer.code == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED;
    const bool refused = unverified || answer.code == LIBSSH2_ERROR_AUTHENTICATION_FAILED;
    if (answer.code == 0) return true;
    // 1.10 says "unverified" for a connection that is gone, too.
    if (connection_is_gone(answer.code) || (refused && session_.link().failed()))
        return login_cut(session_, {Answer::How::lost, answer.code}, offered_text());
    if (answer.code == LIBSSH2_ERROR_METHOD_NONE) {  // nothing was sent
        const Offered last = std::move(offered_.back());
        offered_.pop_back();
        passed_over_.push_back(printable(last.origin) + " (the host takes no signatures by RSA keys)");
        spoiled_ = true;  // libssh2 would offer the next key under this one's name
        return false;
    }
    took_a_key_ = unverified && was_signed;
    if (refused) return false;
    session_.abandon();
    return auth_error("auth_failed", session_.explain(answer.code));
}

// Once for this login; from another's list where that is fresh.
Awaitable<void> PublickeyLogin::list_agent_keys() {
    const std::string& socket = credentials_.agent_socket;
    if (agent_list_ || socket.empty()) co_return;
    AgentLists& lists = *credentials_.agent_lists;
    const auto begun = Clock::now();
    const auto half = begun + (std::max(deadline_, begun) - begun) / 2;
    for (;;) {
        agent_list_ = lists.known(socket, Clock::now());
        if (agent_list_ || lists.take_turn(socket, Clock::now())) break;
        Event pause(io_, cancellation_);
        const Event::Woken woken = co_await pause.wait(std::min(half, Clock::now() + turn_pause));
        if (woken != Event::Woken::cancelled && Clock::now() < half) continue;
        agent_problem_ = "the agent does not answer";
        co_return;
    }
    if (!agent_list_) {
        AgentList list = co_await list_agent(agent_, half);
        agent_list_ = lists.note(socket, std::move(list), Clock::now());
    }
    agent_problem_ = agent_list_->problem;
}

// Empty where the agent refuses or fails.
Awaitable<std::string> PublickeyLogin::agent_signature(const std::string& blob, const std::string& data) {
    if (!agent_problem_.empty()) co_return std::string();
    if (!agent_.connected()) {
        const Status connected = co_await agent_.connect(deadline_);
        if (!connected) agent_problem_ = connected.error().message;
        if (!connected) co_return std::string();
    }
    auto signature = co_await agent_.sign(blob, data, requested_algorithm(data), deadline_);
    if (signature) co_return std::move(*signature);
    agent_problem_ = signature.error().message;
    co_return std::string();
}

bool PublickeyLogin::known(const std::string& blob) const {
    return std::ranges::any_of(candidates_, [&](const Candidate& other) { return other.blob == blob; });
}

std::string PublickeyLogin::offered_text() const {
    std::string text;
    for (const Offered& key : offered_) {
        const auto certificate = read_certificate(key.blob);
        text += fmt::format("{}{} {} ({}{})", text.empty() ? "; offered: " : ", ",
                            printable(ellipsize(key_type(key.blob), 60)),
                            fingerprint(certificate ? certificate->plain_blob : key.blob),
                            printable(key.origin), certificate ? validity_text(*certificate) : "");
    }
    return text;
}

std::string PublickeyLogin::passed_over_text() const {
    if (passed_over_.empty()) return {};
    return fmt::format("; passed over: {}", fmt::join(passed_over_, ", "));
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
