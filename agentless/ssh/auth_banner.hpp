#pragma once
// What a server says beside its answers while somebody logs in (SSH_MSG_USERAUTH_BANNER).

#include <string>

#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

// What libssh2 has heard of it so far; empty: nothing, or libssh2 is older than 1.11, which drops it.
std::string auth_banner(Session& session);

// The same of a connection that the server has closed: PAM says so why an account may not log in. The session
// is of no more use after it.
std::string last_words(Session& session, const std::string& user);

}  // namespace cleanslate::agentless::ssh
