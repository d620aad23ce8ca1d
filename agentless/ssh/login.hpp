#pragma once
// Logging in with public keys: own keys by a signing callback over a key that was parsed once, other keys by
// the agent.

#include <memory>
#include <string>
#include <vector>

#include "agentless/ssh/credentials.hpp"
#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

// A host sees at most so many keys: OpenSSH closes the connection after six failures.
constexpr int max_offers = 5;

// An agent that fails or hangs costs its keys, nothing else; it gets at most half of the time to list them.
// Errors have phase "auth" and kind "auth_failed", "auth_timeout", "cancelled".
Awaitable<Status> log_in(Session& session, boost::asio::io_context& io,
                         const std::shared_ptr<Cancellation>& cancellation, const Credentials& credentials,
                         Clock::time_point deadline);

// The signature algorithm that a publickey request asks for (RFC 4252, section 7: the data to sign). Empty
// where the data is no such request. Pure.
std::string_view requested_algorithm(std::string_view data);

}  // namespace cleanslate::agentless::ssh
