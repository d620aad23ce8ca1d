#pragma once
// One command on a session that is logged in.

#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

// As Connection::run(). After an error the session is of no more use.
Awaitable<Result<RunOutput>> run_command(Session& session, const Script& script, Limits limits);

}  // namespace cleanslate::agentless::ssh
