#pragma once
// Logging in: which methods are tried, and what a refusal says.

#include <memory>

#include "agentless/ssh/credentials.hpp"
#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

// Errors have phase "auth" and kind "auth_failed", "auth_timeout", "cancelled".
Awaitable<Status> log_in(Session& session, boost::asio::io_context& io,
                         const std::shared_ptr<Cancellation>& cancellation, const Credentials& credentials,
                         Clock::time_point deadline);

}  // namespace cleanslate::agentless::ssh
