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

    // Offers one key after another, RSA keys after the others. True: the host let us in. False: it refused
    // them all, or there was none, or it took one and wants more than that (took_a_key()); run() then goes on
    // with the next key. Errors (phase "auth", kinds "auth_failed", "auth_timeout", "cancelled") end the
    // login.
    Awaitable<Result<bool>> run();

    bool offered_any() const { return !offered_.empty(); }
    // The host verified the signature of the last key that was offered, and did not let us in: it wants
    // another method too, or the account is closed.
    bool took_a_key() const { return took_a_key_; }
    // For the error's text, each empty where there is nothing to say: "; offered: TYPE FINGERPRINT (FILE),
    // ...", "; passed over: FILE (why), ...", "; the agent ...".
    std::string offered_text() const;
    std::string passed_over_text() const;
    std::string agent_problem_text() const;

  private:
    struct Candidate {
        std::string blob;
        std::string origin;
        const SigningKey* key = nullptr;
        std::string agent_blob;  // what the agent signs with, where it does
    };
    struct Offered {
        std::string blob, origin;
    };

    Awaitable<void> collect_own();
    Awaitable<void> collect_the_agents();
    Awaitable<Result<bool>> offer_all();
    Awaitable<Result<bool>> offer(const Candidate& candidate);
    Result<bool> judge(Answer answer, bool was_signed);
    Awaitable<void> list_agent_keys();
    Awaitable<std::string> agent_signature(const std::string& blob, const std::string& data);
    bool known(const std::string& blob) const;
    std::string cut_text() const { return offered_text() + agent_problem_text(); }

    Session& session_;
    boost::asio::io_context& io_;
    std::shared_ptr<Cancellation> cancellation_;
    const Credentials& credentials_;
    Clock::time_point deadline_;
    AgentClient agent_;
    AgentLists::List agent_list_;  // null: not asked yet
    std::string agent_problem_;    // of this login
    std::vector<Candidate> candidates_;
    std::size_t next_ = 0;
    bool collected_own_ = false, collected_the_agents_ = false;
    bool took_a_key_ = false, spoiled_ = false;
    std::vector<Offered> offered_;
    std::vector<std::string> passed_over_;
};

// The signature algorithm that a publickey request asks for (RFC 4252, section 7: the data to sign). Empty
// where the data is no such request. Pure.
std::string_view requested_algorithm(std::string_view data);

}  // namespace cleanslate::agentless::ssh
