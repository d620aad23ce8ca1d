#pragma once
// Logging in: which methods are tried in which order, and what a refusal says.

#include <memory>

#include "agentless/shared_secret.hpp"
#include "agentless/ssh/credentials.hpp"
#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

// Publickey, keyboard-interactive and password in the order of the credentials, as far as the server takes
// them; after a method that it took as a part, the next. What it takes is asked for (by the method "none",
// one round trip) only where a password is at hand, or where the keys did not do. `password` null: none was
// asked for. `host`: who a password that is refused was refused by, for messages of other hosts.
//
// Errors have phase "auth" and kind "auth_failed", "auth_timeout", "cancelled", or one of an account's
// (account_trouble.hpp).
Awaitable<Status> log_in(Session& session, boost::asio::io_context& io,
                         const std::shared_ptr<Cancellation>& cancellation, const Credentials& credentials,
                         const std::shared_ptr<SharedSecret>& password, const std::string& host,
                         Clock::time_point deadline);

}  // namespace cleanslate::agentless::ssh
