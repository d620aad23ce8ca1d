#pragma once
// The two requests to an ssh-agent that a login needs, asynchronous and within a deadline (libssh2's own
// client blocks, and spins for ever where an agent hangs up). An agent's failure is never more than a key
// that is not there.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/ssh/socket_link.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless::ssh {

// Reads an answer to "which keys do you have": the blobs. Errors have kind "agent". Pure.
Result<std::vector<std::string>> read_identities_answer(std::string_view answer);
// Reads an answer to "sign this": the inner signature, which must be of `algorithm` (a certificate's: of its
// key's). A security key's goes on with flags and counter, as libssh2 sends it.
Result<std::string> read_sign_answer(std::string_view answer, std::string_view algorithm);

// One connection to an agent, for one login. After an error it is of no more use.
class AgentClient {
  public:
    AgentClient(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation, std::string socket);
    ~AgentClient();
    AgentClient(const AgentClient&) = delete;
    AgentClient& operator=(const AgentClient&) = delete;

    // Errors of all have kind "agent" ("timeout" at the deadline, "cancelled").
    bool connected() const { return link_ != nullptr; }
    Awaitable<Status> connect(Clock::time_point deadline);
    Awaitable<Result<std::vector<std::string>>> identities(Clock::time_point deadline);
    // `algorithm` as in the data to sign: the key's type, or rsa-sha2-256 or -512, or a certificate's.
    Awaitable<Result<std::string>> sign(std::string_view blob, std::string_view data,
                                        std::string_view algorithm, Clock::time_point deadline);

  private:
    Awaitable<Result<std::string>> ask(std::string_view request, Clock::time_point deadline);

    boost::asio::io_context& io_;
    std::shared_ptr<Cancellation> cancellation_;
    std::string socket_;
    std::shared_ptr<SocketLink> link_;
};

}  // namespace cleanslate::agentless::ssh
