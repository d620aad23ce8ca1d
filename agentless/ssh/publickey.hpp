#pragma once
// The method publickey: own keys by a signing callback over a key that was parsed once, other keys by the
// agent.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/ssh/agent_client.hpp"
#include "agentless/ssh/credentials.hpp"
#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

// A host sees at most so many keys: OpenSSH closes the connection after six failures.
constexpr int max_offers = 5;

// The keys of one login. An agent that fails or hangs costs its keys, nothing else; it gets at most half of
// the time to list them. The references outlive this.
class PublickeyLogin {
  public:
    PublickeyLogin(Session& session, boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
                   const Credentials& credentials, Clock::time_point deadline);

    // Offers one key after another. True: the host let us in. False: it refused them all, there was none, or
    // it took one and did not let us in (took_a_key): the next call goes on with the keys that are left.
    // Errors (phase "auth", kinds "auth_failed", "auth_timeout", "cancelled") end the login.
    Awaitable<Result<bool>> run();

    bool offered_any() const { return !offered_.empty(); }
    // The host asked for a signature by the key that was offered last, had it, and did not let us in: it
    // wants more than a key, or it does not want this account.
    bool took_a_key() const { return took_a_key_; }
    // For the error's text, each empty where there is nothing to say: "; offered: TYPE FINGERPRINT (FILE),
    // ...", "; not supported here: ...", "; the agent ...".
    std::string offered_text() const;
    std::string passed_over_text() const;
    std::string agent_problem_text() const;

  private:
    struct Offered {
        std::string blob, origin;
    };

    Awaitable<Result<bool>> offer(const std::string& blob, const SigningKey* key, const std::string& origin);
    Result<bool> judge(Answer answer);
    Awaitable<void> list_agent_keys();
    Awaitable<bool> agent_has(const std::string& blob);
    Awaitable<std::string> agent_signature(const std::string& blob, const std::string& data);
    bool offered(const std::string& blob) const;

    Session& session_;
    const Credentials& credentials_;
    Clock::time_point deadline_;
    AgentClient agent_;
    bool agent_listed_ = false, took_a_key_ = false;
    std::vector<std::string> agent_keys_;
    std::string agent_problem_;
    std::vector<Offered> offered_;
    std::vector<std::string> passed_over_;
};

// The signature algorithm that a publickey request asks for (RFC 4252, section 7: the data to sign). Empty
// where the data is no such request. Pure.
std::string_view requested_algorithm(std::string_view data);

}  // namespace cleanslate::agentless::ssh
