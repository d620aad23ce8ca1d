#include "agentless/ssh/agent_client.hpp"

#include <sys/un.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>

#include "agentless/run_errors.hpp"
#include "agentless/ssh/certificate.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using boost::system::error_code;
using namespace std::chrono_literals;

// draft-miller-ssh-agent
constexpr std::uint8_t request_identities = 11;
constexpr std::uint8_t identities_answer = 12;
constexpr std::uint8_t sign_request = 13;
constexpr std::uint8_t sign_response = 14;
constexpr std::uint32_t flag_rsa_sha2_256 = 2;
constexpr std::uint32_t flag_rsa_sha2_512 = 4;
constexpr std::size_t max_answer = 256u << 10;
constexpr std::uint32_t max_identities = 2048;

std::unexpected<Error> agent_failed(std::string what) {
    return fail("agent", "the agent " + std::move(what), "check SSH_AUTH_SOCK and ssh-add -l");
}

std::uint32_t flags_of(std::string_view algorithm) {
    const std::string plain = plain_algorithm(algorithm);
    if (plain == "rsa-sha2-256") return flag_rsa_sha2_256;
    if (plain == "rsa-sha2-512") return flag_rsa_sha2_512;
    return 0;
}

}  // namespace

Result<std::vector<std::string>> read_identities_answer(std::string_view answer) {
    WireReader reader(answer);
    const auto type = reader.byte();
    const auto count = reader.number();
    if (type != identities_answer || !count) return agent_failed("did not list its keys");
    if (*count > max_identities) return agent_failed("lists too many keys");
    std::vector<std::string> blobs;
    for (std::uint32_t i = 0; i < *count; ++i) {
        const auto blob = reader.text();
        const auto comment = reader.text();
        if (!blob || !comment) return agent_failed("sent a list of keys that is cut short");
        blobs.emplace_back(*blob);
    }
    return blobs;
}

Result<std::string> read_sign_answer(std::string_view answer, std::string_view algorithm) {
    WireReader reader(answer);
    if (reader.byte() != sign_response) return agent_failed("refused to sign");
    const auto signature = reader.text();
    if (!signature) return agent_failed("sent a signature that is cut short");
    WireReader parts(*signature);
    const auto name = parts.text();
    const std::string_view whole = parts.rest();
    const auto inner = parts.text();
    if (!name || !inner) return agent_failed("sent a signature that is cut short");
    const std::string plain = plain_algorithm(algorithm);
    if (*name != plain) return agent_failed("signed with another algorithm than it was asked for");
    if (!plain.starts_with("sk-")) return std::string(*inner);
    if (!parts.byte() || !parts.number() || !parts.at_end())  // flags and counter
        return agent_failed("sent a security key's signature of no possible form");
    return std::string(whole);
}

AgentClient::AgentClient(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
                         std::string socket)
    : io_(io), cancellation_(std::move(cancellation)), socket_(std::move(socket)) {}

AgentClient::~AgentClient() {
    if (link_) link_->close();
}

Awaitable<Status> AgentClient::connect(Clock::time_point deadline) {
    if (socket_.size() >= sizeof(sockaddr_un::sun_path))
        co_return agent_failed("has a socket with too long a name");
    const SocketLink::Protocol::endpoint endpoint(boost::asio::local::stream_protocol::endpoint{socket_});
    for (;;) {
        link_ = std::make_shared<SocketLink>(io_, cancellation_);
        const error_code error = co_await link_->connect(endpoint, deadline);
        if (!error) co_return Status{};
        if (cancellation_->requested()) co_return std::unexpected(cancelled());
        if (Clock::now() >= deadline) co_return agent_failed("does not answer");
        if (error.value() != EAGAIN) co_return agent_failed("is not there: " + error.message());
        // Its queue is full: many logins at once. Try again a little later.
        Event pause(io_, cancellation_);
        co_await pause.wait(std::min(deadline, Clock::now() + 20ms));
    }
}

Awaitable<Result<std::vector<std::string>>> AgentClient::identities(Clock::time_point deadline) {
    const std::string request(1, static_cast<char>(request_identities));
    const auto answer = co_await ask(request, deadline);
    if (!answer) co_return std::unexpected(answer.error());
    co_return read_identities_answer(*answer);
}

Awaitable<Result<std::string>> AgentClient::sign(std::string_view blob, std::string_view data,
                                                 std::string_view algorithm, Clock::time_point deadline) {
    std::string request(1, static_cast<char>(sign_request));
    put_text(request, blob);
    put_text(request, data);
    put_number(request, flags_of(algorithm));
    const auto answer = co_await ask(request, deadline);
    if (!answer) co_return std::unexpected(answer.error());
    co_return read_sign_answer(*answer, algorithm);
}

Awaitable<Result<std::string>> AgentClient::ask(std::string_view request, Clock::time_point deadline) {
    std::string message;
    put_text(message, request);
    if (link_->put(message.data(), message.size()) < 0) co_return agent_failed("has hung up");
    link_->flush();
    std::string answer;
    std::size_t wanted = 4;  // the length, then so much more
    bool has_length = false;
    for (;;) {
        char buffer[4096];
        const ssize_t count = link_->take(buffer, std::min(sizeof buffer, wanted - answer.size()));
        if (count > 0) answer.append(buffer, static_cast<std::size_t>(count));
        if (answer.size() == wanted) {
            if (has_length) co_return answer.substr(4);
            const auto length = WireReader(answer).number().value_or(0);
            if (length == 0 || length > max_answer)
                co_return agent_failed("sent an answer of no possible length");
            wanted += length;
            has_length = true;
            continue;
        }
        if (count > 0) continue;
        if (count != -EAGAIN) co_return agent_failed("has hung up");
        link_->want_input();
        const Event::Woken woken = co_await link_->event().wait(deadline);
        if (woken == Event::Woken::cancelled) co_return std::unexpected(cancelled());
        if (woken == Event::Woken::deadline) co_return agent_failed("does not answer");
    }
}

}  // namespace cleanslate::agentless::ssh
